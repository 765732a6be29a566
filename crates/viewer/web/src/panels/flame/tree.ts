// Turns the answer of the server into positioned boxes.

import { FlameFrame, type FlameAnswer } from "../../wire";

/** A box: a row, and its edges as shares of the width. */
export interface Box {
  row: number;
  from: number;
  to: number;
  /** Null for the root of everything, and for boxes that represent several small ones. */
  name: string | null;
  total: number;
  own: number;
  count: number;
  /** Number of boxes that this one represents; 0 for a real one. */
  folded: number;
  /** The weight in the compared trace; null if there is none, and for boxes that represent several. */
  before: number | null;
  parent: number;
  children: number[];
}

export interface Boxes {
  list: Box[];
  /** The boxes of each row, from left to right. */
  rows: number[][];
  /** The row of the root. */
  middle: number;
  /** Whether boxes have a weight in another trace. */
  isCompared: boolean;
}

export const NO_BOXES: Boxes = { list: [], rows: [], middle: 0, isCompared: false };

/** Positions boxes: callees below the root, callers above it. */
export function layout(answer: Pick<FlameAnswer, "callers" | "frames" | "names" | "before">): Boxes {
  const callers = place(answer.callers, answer.names, []);
  const callees = place(answer.frames, answer.names, answer.before);
  const middle = callers.reduce((most, box) => Math.max(most, box.row), 0);
  const list = callees.map((box) => ({ ...box, row: middle + box.row }));
  const shift = list.length - 1;
  const moved = (number: number): number => (number === 0 ? 0 : number + shift);
  callers.forEach((box, number) => {
    const children = box.children.map(moved);
    if (number === 0) list[0]?.children.push(...children);
    else list.push({ ...box, row: middle - box.row, parent: moved(box.parent), children });
  });
  const rows: number[][] = [];
  list.forEach((box, number) => (rows[box.row] ??= []).push(number));
  return { list, rows, middle, isCompared: answer.before.length > 0 };
}

/** Children are placed side by side from the left edge of their parent. */
function place(frames: FlameFrame[], names: string[], before: (number | null)[]): Box[] {
  const boxes: Box[] = [];
  const whole = Math.max(1, frames[0]?.[FlameFrame.total] ?? 0);
  const filled: number[] = [];
  frames.forEach(([parent, name, total, own, count, folded], number) => {
    const around = number === 0 ? undefined : boxes[parent];
    const from = around ? (filled[parent] ?? around.from) : 0;
    const to = number === 0 ? 1 : from + total / whole;
    if (around) {
      filled[parent] = to;
      around.children.push(number);
    }
    const row = around ? around.row + 1 : 0;
    boxes.push({
      row,
      from,
      to,
      name: name === null ? null : (names[name] ?? ""),
      total,
      own,
      count,
      folded,
      before: before[number] ?? null,
      parent,
      children: [],
    });
  });
  return boxes;
}

/** The names from the root to a box, preceded by the path of the root. */
export function pathTo({ list }: Boxes, number: number, rootPath: string[]): string[] {
  const names: string[] = [];
  for (let at = number; at !== 0; at = list[at]?.parent ?? 0) names.unshift(list[at]?.name ?? "");
  return [...rootPath, ...names];
}

/** The share of the width whose boxes match a text; nested matches count once. */
export function matched({ list }: Boxes, isMatch: (name: string) => boolean): number {
  let sum = 0;
  const waiting = [0];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const box = list[at];
    if (!box) continue;
    if (box.name !== null && isMatch(box.name)) sum += box.to - box.from;
    else waiting.push(...box.children);
  }
  return sum;
}

/** The growth factor of a box, as a power of two from -1 to 1; 0 if unknown. */
export function growth({ total, before }: Pick<Box, "total" | "before">): number {
  if (before === null || total === before) return 0;
  return Math.max(-1, Math.min(1, Math.log2(Math.max(total, 1) / Math.max(before, 1))));
}
