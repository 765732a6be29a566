import { describe, expect, it } from "vitest";
import type { Bin } from "../../wire";
import { heights, position, ticks } from "./bins";

const even: Bin[] = [
  [0, 10, 1],
  [10, 20, 2],
  [20, 30, 0],
];
const growing: Bin[] = [
  [1, 10, 1],
  [10, 100, 2],
  [100, 1000, 3],
];

describe("position", () => {
  it("is between the edges of a bin", () => {
    expect([position(even, false, 0), position(even, false, 15), position(even, false, 25)]).toEqual([0, 1.5, 2.5]);
  });

  it("follows the logarithm if the bins do", () => {
    expect(position(growing, true, Math.sqrt(1000))).toBeCloseTo(1.5);
    expect(position(growing, true, 100)).toBeCloseTo(2);
  });

  it("stays on the axis", () => {
    expect([position(even, false, -5), position(even, false, 99), position([], false, 5)]).toEqual([0, 3, 0]);
  });
});

describe("ticks", () => {
  it("are round and inside", () => {
    expect(ticks(even, false)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].concat(Array.from({ length: 21 }, (_, at) => at + 10)),
    );
    expect(ticks(growing, true)).toEqual([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]);
  });
});

it("gives each trace bars that are parts of its own calls", () => {
  const traces = [
    { trace: 0, calls: 4, counts: [1, 3, 0] },
    { trace: 2, calls: 100, counts: [0, 50, 50] },
  ];
  expect(heights(traces)).toEqual([
    [1 / 3, 1, 0],
    [0, 2 / 3, 2 / 3],
  ]);
  expect(heights([])).toEqual([]);
});
