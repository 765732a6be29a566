// The view while a trace grows.

import type { Range } from "../store/state";

/** Initial width of the view of a growing trace, in nanoseconds. */
export const FIRST_WIDTH = 10e9;

/** The view that follows the end: as wide as before, or everything while there is less. */
export function followed(all: Range, width: number): Range {
  const from = Math.max(all.from, all.to - width);
  return { from, to: Math.max(all.to, from + 1) };
}
