import { expect, it } from "vitest";
import { stepOf } from "./steps";

it("moves by lines and pages, and to both ends", () => {
  expect(["ArrowDown", "ArrowUp", "PageDown", "PageUp"].map((key) => stepOf(key, 20))).toEqual([1, -1, 20, -20]);
  expect([stepOf("Home", 20), stepOf("End", 20)]).toEqual([-Infinity, Infinity]);
});

it("leaves other keys alone", () => expect(stepOf("Enter", 20)).toBeUndefined());
