// Where the view goes while a trace grows.

import type { Range } from "../store/state";

/** What is seen of a growing trace at first, in nanoseconds. */
export const FIRST_WIDTH = 10e9;

/** The view that follows the end: as wide as before, or all while there is less. */
export function followed(all: Range, width: number): Range {
  const from = Math.max(all.from, all.to - width);
  return { from, to: Math.max(all.to, from + 1) };
}
