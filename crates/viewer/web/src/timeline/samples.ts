// Values over time: the value at a time, and the values of each pixel column.

import type { Range } from "../store/state";
import type { Sample } from "../wire";
import { xOf } from "./scale";

/** The sample at a time. */
export function sampleAt(samples: Sample[], ns: number): Sample | null {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((samples[middle] as Sample)[0] <= ns) low = middle + 1;
    else high = middle;
  }
  return samples[low - 1] ?? null;
}

/** The values of each pixel column: the last value, and the extremes. */
export interface Columns {
  last: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

export function columnsOf(samples: Sample[], width: number, view?: Range): Columns {
  const count = Math.ceil(width);
  const columns = {
    last: new Float64Array(count).fill(NaN),
    low: new Float64Array(count),
    high: new Float64Array(count),
  };
  let held = NaN;
  let done = 0;
  const hold = (to: number): void => {
    for (; done < to; done++) columns.last[done] = columns.low[done] = columns.high[done] = held;
  };
  for (const [ts, low, high, last] of samples) {
    const x = Math.floor(xOf(ts, width, view));
    if (x >= count) break;
    if (x >= 0) {
      hold(x);
      const isNew = done === x;
      columns.low[x] = isNew ? Math.min(low, Number.isNaN(held) ? low : held) : Math.min(columns.low[x] as number, low);
      columns.high[x] = isNew
        ? Math.max(high, Number.isNaN(held) ? high : held)
        : Math.max(columns.high[x] as number, high);
      columns.last[x] = last;
      done = x + 1;
    }
    held = last;
  }
  hold(count);
  return columns;
}

/**
 * The number of the pixel that contains a time. The server merges what shares a pixel, and counts pixels from time 0 of
 * the trace: with other borders, two of its pixels would fall into one here, and none into the next.
 */
export function pixelOf(ns: number, pixel: number, offset: number): number {
  return Math.floor((ns - offset) / pixel);
}

/** Replaces each value with the mean of its neighbors, so that regular log lines cause no gaps or peaks. */
export function smoothed(values: readonly number[], reach = 2): number[] {
  return values.map((_, at) => {
    const near = values.slice(Math.max(0, at - reach), at + reach + 1);
    return near.reduce((sum, value) => sum + value, 0) / near.length;
  });
}
