// Positions of durations on an axis of bins.

import type { Bin, TraceBins } from "../../wire";

/** The position of a duration among the bins, from 0 to their number. */
export function position(bins: Bin[], isLogarithmic: boolean, ns: number): number {
  const at = bins.findIndex(([, to]) => ns < to);
  const bin = bins[at < 0 ? bins.length - 1 : at];
  if (!bin) return 0;
  const scale = (value: number): number => (isLogarithmic ? Math.log(Math.max(value, 0.5)) : value);
  const [from, to] = [scale(bin[0]), scale(bin[1])];
  const part = to > from ? (scale(ns) - from) / (to - from) : 0;
  return (at < 0 ? bins.length - 1 : at) + Math.min(Math.max(part, 0), 1);
}

/** Round durations between the first and the last. */
export function ticks(bins: Bin[], isLogarithmic: boolean): number[] {
  const [first, last] = [bins[0]?.[0] ?? 0, bins[bins.length - 1]?.[1] ?? 1];
  const found: number[] = [];
  if (isLogarithmic) {
    for (let power = 10 ** Math.floor(Math.log10(Math.max(first, 1))); power <= last; power *= 10) {
      for (const step of [1, 2, 5]) if (step * power >= first && step * power <= last) found.push(step * power);
    }
    return found;
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(1, (last - first) / 5)));
  for (let at = Math.ceil(first / power) * power; at <= last && found.length < 200; at += power) found.push(at);
  return found;
}

/** The heights of the bars of each trace: shares of the calls of the trace, scaled so that the highest bar is 1. */
export function heights(traces: TraceBins[]): number[][] {
  const parts = traces.map(({ calls, counts }) => counts.map((count) => count / Math.max(1, calls)));
  const most = Math.max(...parts.flat(), Number.MIN_VALUE);
  return parts.map((part) => part.map((height) => height / most));
}
