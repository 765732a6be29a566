import { expect, it } from "vitest";
import { BLOCK, Blocks } from "./blocks";

const rows = (block: number): number[] => Array.from({ length: BLOCK }, (_, at) => block * BLOCK + at);

it("asks for each block once, until it is there or has failed", () => {
  const blocks = new Blocks<number>();
  expect(blocks.missing(BLOCK - 5, BLOCK + 5)).toEqual([0, 1]);
  expect(blocks.missing(0, 2 * BLOCK)).toEqual([]);
  blocks.failed(1);
  expect(blocks.missing(0, 2 * BLOCK)).toEqual([1]);
  blocks.put(1, rows(1));
  expect(blocks.row(BLOCK + 7)).toBe(BLOCK + 7);
  expect(blocks.row(7)).toBeUndefined();
  expect(blocks.missing(BLOCK, 2 * BLOCK)).toEqual([]);
  expect(blocks.missing(5, 5)).toEqual([]);
});

it("forgets the oldest block, which can be asked for again", () => {
  const blocks = new Blocks<number>();
  for (let block = 0; block < 61; block++) blocks.put(block, rows(block));
  expect(blocks.row(0)).toBeUndefined();
  expect(blocks.row(BLOCK)).toBe(BLOCK);
  expect(blocks.missing(0, 1)).toEqual([0]);
});
