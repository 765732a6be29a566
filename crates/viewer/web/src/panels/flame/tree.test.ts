import { describe, expect, it } from "vitest";
import type { FlameFrame } from "../../wire";
import { growth, layout, matched, pathTo } from "./tree";

const names = ["main", "draw", "load"];
const frames: FlameFrame[] = [
  [0, null, 100, 0, 1, 0],
  [0, 0, 80, 10, 1, 0],
  [0, 2, 20, 20, 2, 0],
  [1, 1, 50, 50, 5, 0],
  [1, null, 20, 20, 7, 3],
];

describe("layout", () => {
  const boxes = layout({ names, frames, before: [], callers: [] });

  it("puts children side by side, below their parent", () => {
    expect(boxes.list.map(({ row, from, to }) => [row, from, to])).toEqual([
      [0, 0, 1],
      [1, 0, 0.8],
      [1, 0.8, 1],
      [2, 0, 0.5],
      [2, 0.5, 0.7],
    ]);
    expect(boxes.rows).toEqual([[0], [1, 2], [3, 4]]);
    expect(boxes.list[1]?.children).toEqual([3, 4]);
  });

  it("knows the way to a box", () => {
    expect(pathTo(boxes, 3, ["above"])).toEqual(["above", "main", "draw"]);
    expect(pathTo(boxes, 0, [])).toEqual([]);
  });

  it("counts a text once, however often it is in a stack", () => {
    expect(matched(boxes, (name) => name === "load")).toBeCloseTo(0.2);
    expect(matched(boxes, (name) => name === "main" || name === "draw")).toBeCloseTo(0.8);
    expect(matched(boxes, () => false)).toBe(0);
  });
});

describe("a sandwich", () => {
  const callers: FlameFrame[] = [
    [0, 1, 50, 50, 5, 0],
    [0, 0, 50, 0, 5, 0],
    [1, 2, 30, 0, 3, 0],
  ];
  const boxes = layout({ names, frames: [[0, 1, 50, 50, 5, 0]], callers, before: [] });

  it("has its callers above the middle", () => {
    expect(boxes.middle).toBe(2);
    expect(boxes.list.map(({ name, row }) => [name, row])).toEqual([
      ["draw", 2],
      ["main", 1],
      ["load", 0],
    ]);
    expect(boxes.list[0]?.children).toEqual([1]);
    expect(boxes.list[2]?.parent).toBe(1);
  });
});

describe("a comparison", () => {
  it("gives each box its weight before, and says how much it grew", () => {
    const { list, isCompared } = layout({ names, frames, callers: [], before: [100, 40, 0, 400, null] });
    expect(isCompared).toBe(true);
    expect(list.map(growth)).toEqual([0, 1, 1, -1, 0]);
    expect(growth({ total: 110, before: 100 })).toBeCloseTo(Math.log2(1.1));
    expect(layout({ names, frames, callers: [], before: [] }).isCompared).toBe(false);
  });
});
