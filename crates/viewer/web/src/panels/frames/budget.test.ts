import { expect, it } from "vitest";
import { parsedBudget, usualBudget, writtenBudget } from "./budget";

it("is that of the fastest screen that most frames are quick enough for", () => {
  expect(writtenBudget(usualBudget(2e6))).toBe("4.167");
  expect(writtenBudget(usualBudget(14e6))).toBe("16.67");
  expect(writtenBudget(usualBudget(20e6))).toBe("33.33");
  expect(writtenBudget(usualBudget(5e9))).toBe("1000");
});

it("is typed in milliseconds", () => {
  expect(parsedBudget("16.6 ms")).toBeCloseTo(16.6e6);
  expect(parsedBudget("8,3")).toBeCloseTo(8.3e6);
  for (const wrong of ["", "x", "0", "-1", "1e999"]) expect(parsedBudget(wrong)).toBeNull();
});
