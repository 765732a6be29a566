import { expect, it } from "vitest";
import { partOf, points } from "./chart";

it("draws a line in order, from zero up, without what is missing", () => {
  const pairs = [
    [20, 5],
    [10, 10],
    [15, NaN],
  ] as const;
  expect(points(pairs, 100, 50)).toBe("0.0,0.0 100.0,25.0");
  expect(points([[7, 0]], 100, 50)).toBe("0.0,50.0");
  expect(points([], 100, 50)).toBe("");
});

it("measures bars by the greatest amount, whichever way it goes", () => {
  const values = [-4, 2, NaN];
  expect(values.map((value) => partOf(value, values))).toEqual([1, 0.5, 0]);
  expect(partOf(0, [0, 0])).toBe(0);
});
