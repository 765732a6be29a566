// The positions of lines, bands, changes and ticks of the history of a name, in pixels.

import { duration, tickStep } from "../../format";
import type { NameTrend, TrendChange, TrendPlace, TrendPoint } from "../../wire";

/** The series to draw: percentiles of all calls, and the mean of the traces with its noise. */
export const SERIES = ["p50", "p95", "p99", "mean"] as const;
export type Series = (typeof SERIES)[number];

/** Space around the lines. */
export const EDGE = { left: 64, right: 14, top: 20, bottom: 34 };

export interface Mark {
  x: number;
  text: string;
}

export interface Plot {
  /** The points of each line, as in SVG. */
  lines: ReadonlyMap<Series, string>;
  /** The noise around the mean of the traces. */
  band: string;
  dots: readonly { x: number; y: number; series: Series }[];
  changes: readonly (Mark & { isWorse: boolean })[];
  /** Days or builds along the axis, as many as fit. */
  along: readonly Mark[];
  up: readonly { y: number; text: string }[];
  /** The position of each point of the name. */
  xs: readonly number[];
}

/** The time of a name in this series; null if the traces have only sums. */
export function valueOf(point: TrendPoint, series: Series): number | null {
  return { p50: point.p50_ns, p95: point.p95_ns, p99: point.p99_ns, mean: point.value_ns }[series];
}

/** Plots a name into a box. */
export function plot(
  name: NameTrend,
  places: readonly TrendPlace[],
  shown: readonly Series[],
  [width, height]: readonly [number, number],
): Plot {
  const numbers = new Map(places.map((place, at) => [key(place), at]));
  const [first, last] = [EDGE.left, Math.max(EDGE.left + 1, width - EDGE.right)];
  const x = (place: TrendPlace): number =>
    first + ((last - first) * (numbers.get(key(place)) ?? 0)) / Math.max(1, places.length - 1);
  const most = highest(name.points, shown);
  const y = (ns: number): number => EDGE.top + (height - EDGE.top - EDGE.bottom) * (1 - ns / most);
  const dots = shown.flatMap((series) =>
    name.points.flatMap((point) => {
      const ns = valueOf(point, series);
      return ns === null ? [] : [{ x: x(point), y: y(ns), series }];
    }),
  );
  const line = (series: Series): string =>
    dots
      .filter((dot) => dot.series === series)
      .map((dot) => pair(dot.x, dot.y))
      .join(" ");
  return {
    lines: new Map(shown.map((series) => [series, line(series)])),
    band: shown.includes("mean") ? bandOf(name.points, x, y) : "",
    dots,
    changes: name.changes.map((change) => ({
      x: x(change.at),
      text: percent(change.change),
      isWorse: change.change > 0,
    })),
    along: ticksAlong(places, x, last - first),
    up: ticksUp(most).map((ns) => ({ y: y(ns), text: duration(ns) })),
    xs: name.points.map(x),
  };
}

/** The number of the point nearest to a position in the chart. */
export function nearest(xs: readonly number[], x: number): number {
  return xs.reduce((known, one, at) => (Math.abs(one - x) < Math.abs((xs[known] ?? Infinity) - x) ? at : known), 0);
}

/** The change that starts at a point. */
export function changeAt(name: NameTrend, point: TrendPlace): TrendChange | undefined {
  return name.changes.find((change) => key(change.at) === key(point));
}

export function percent(part: number): string {
  return `${part > 0 ? "+" : ""}${(100 * part).toFixed(1)} %`;
}

/** A tenth of space above the highest value; at least a nanosecond. */
function highest(points: readonly TrendPoint[], shown: readonly Series[]): number {
  const values = points.flatMap((point) =>
    shown.map((series) => (valueOf(point, series) ?? 0) + (series === "mean" ? (point.noise_ns ?? 0) : 0)),
  );
  return 1.1 * values.reduce((one, other) => Math.max(one, other), 1 / 1.1);
}

function bandOf(points: readonly TrendPoint[], x: (place: TrendPlace) => number, y: (ns: number) => number): string {
  const edge = (point: TrendPoint, sign: number): string =>
    pair(x(point), y(Math.max(0, point.value_ns + sign * (point.noise_ns ?? 0))));
  return [...points.map((point) => edge(point, 1)), ...points.map((point) => edge(point, -1)).reverse()].join(" ");
}

/** Round values up to the highest. */
function ticksUp(most: number): number[] {
  const step = tickStep(most / 6);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step);
}

/** Width of a label in pixels. */
const LABEL = 88;

function ticksAlong(places: readonly TrendPlace[], x: (place: TrendPlace) => number, width: number): Mark[] {
  const step = Math.max(1, Math.ceil((places.length * LABEL) / Math.max(width, 1)));
  return places
    .filter((_, at) => at % step === 0)
    .map((place) => ({ x: x(place), text: `${place.day}\n${place.build}` }));
}

function key({ day, build }: TrendPlace): string {
  return `${day}\n${build}`;
}

function pair(x: number, y: number): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}
