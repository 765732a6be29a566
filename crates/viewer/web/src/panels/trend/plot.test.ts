import { expect, it } from "vitest";
import type { NameTrend, TrendPlace, TrendPoint } from "../../wire";
import { changeAt, EDGE, nearest, percent, plot, valueOf } from "./plot";

const places: TrendPlace[] = ["1", "2", "3"].map((day) => ({ day, build: "a" }));
const point = (day: string, p50_ns: number | null, value_ns: number, noise_ns: number | null): TrendPoint => ({
  day,
  build: "a",
  traces: 2,
  calls: 10,
  p50_ns,
  p95_ns: null,
  p99_ns: null,
  value_ns,
  noise_ns,
});
const name: NameTrend = {
  name: "draw",
  points: [point("1", 100, 100, 10), point("3", null, 190, 10)],
  changes: [{ at: { day: "3", build: "a" }, before_ns: 100, after_ns: 190, change: 0.9, noise: 0.1, p: 0.001 }],
};
const box = [EDGE.left + 200 + EDGE.right, EDGE.top + 110 + EDGE.bottom] as const;

it("puts points where their day is among all days, and values above zero", () => {
  const { lines, band, xs, changes, up } = plot(name, places, ["p50", "mean"], box);
  const x = (at: number): string => (EDGE.left + at).toFixed(1);
  // The highest value is 200, with the noise, and a tenth of space: half a pixel per nanosecond.
  const y = (ns: number): string => (EDGE.top + 110 - ns / 2).toFixed(1);
  expect(lines.get("p50")).toBe(`${x(0)},${y(100)}`);
  expect(lines.get("mean")).toBe(`${x(0)},${y(100)} ${x(200)},${y(190)}`);
  expect(band).toBe(`${x(0)},${y(110)} ${x(200)},${y(200)} ${x(200)},${y(180)} ${x(0)},${y(90)}`);
  expect(xs).toEqual([EDGE.left, EDGE.left + 200]);
  expect(changes).toEqual([{ x: EDGE.left + 200, text: "+90.0 %", isWorse: true }]);
  expect(up.map(({ text }) => text)).toEqual(["0 ns", "50 ns", "100 ns", "150 ns", "200 ns"]);
  expect(up.map(({ y }) => Math.round(y))).toEqual([0, 25, 50, 75, 100].map((height) => EDGE.top + 110 - height));
});

it("draws what there is, and no band without the mean", () => {
  const { lines, band, dots } = plot(name, places, ["p95"], box);
  expect([lines.get("p95"), band, dots]).toEqual(["", "", []]);
  const none = plot({ name: "x", points: [], changes: [] }, [], ["p50"], box);
  expect([none.along, none.xs]).toEqual([[], []]);
});

it("has no more labels than there is room for", () => {
  const many = Array.from({ length: 100 }, (_, at) => ({ day: String(at), build: "" }));
  expect(plot(name, many, [], box).along.length).toBeLessThanOrEqual(3);
});

it("finds points", () => {
  expect([nearest([10, 20, 40], 29), nearest([10, 20, 40], 31), nearest([], 5)]).toEqual([1, 2, 0]);
  expect(changeAt(name, { day: "3", build: "a" })?.change).toBe(0.9);
  expect(changeAt(name, { day: "3", build: "b" })).toBeUndefined();
  expect([percent(0.123), percent(-0.5), valueOf(name.points[1] as TrendPoint, "p50")]).toEqual([
    "+12.3 %",
    "-50.0 %",
    null,
  ]);
});
