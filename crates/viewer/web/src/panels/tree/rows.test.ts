import { expect, it } from "vitest";
import { below, heaviest, mostOf, seen, treeOf } from "./rows";

const names = ["a", "b", "c"];
/** `a` calls `b` (small self) and `c`; two more are too small. */
const roots = treeOf({
  names,
  frames: [
    [0, null, 100, 0, 9, 0],
    [0, 0, 90, 5, 1, 0],
    [0, 1, 8, 8, 1, 0],
    [0, null, 2, 0, 2, 2],
    [1, 1, 60, 10, 3, 0],
    [1, 2, 25, 25, 1, 0],
    [4, 2, 50, 50, 2, 0],
  ],
});

it("shows the children of open nodes only, the largest first", () => {
  const shown = (open: string[], sort: "total" | "own" = "total"): string[] =>
    seen(roots, new Set(open), sort).map(({ depth, name }) => `${depth}${name}`);
  expect(shown([])).toEqual(["0a", "0b", "0null"]);
  expect(shown(["\na"])).toEqual(["0a", "1b", "1c", "0b", "0null"]);
  expect(shown(["\na"], "own")).toEqual(["0b", "0a", "1c", "1b", "0null"]);
});

it("finds the node that has most of a name", () => {
  expect(mostOf(roots, "c")?.key).toBe("\na\nb\nc");
  expect(mostOf(roots, "b")?.key).toBe("\na\nb");
  expect(mostOf(roots, "x")).toBeNull();
});

it("opens the heaviest path and whole branches", () => {
  expect(heaviest(roots)).toEqual(["\na", "\na\nb"]);
  expect(roots[0] && below(roots[0])).toEqual(["\na", "\na\nb"]);
  expect(heaviest([])).toEqual([]);
});
