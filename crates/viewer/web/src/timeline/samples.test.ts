import { describe, expect, it } from "vitest";
import { pixelOf, smoothed } from "./samples";

it("leaves no gaps and no peaks where lines come as regularly as pixels", () => {
  const counts = Array.from({ length: 60 }, (_, at) => (at % 20 === 10 ? 0 : at % 20 === 11 ? 24 : 12));
  const values = smoothed(counts);
  expect(Math.min(...values)).toBeGreaterThan(7);
  expect(Math.max(...values)).toBeLessThan(17);
  expect(smoothed([0, 0, 0])).toEqual([0, 0, 0]);
});

describe("pixelOf", () => {
  const step = 16_666_667;

  /** The first line of each pixel, as the server sends it, for lines that come every 60th of a second. */
  function sent(from: number, to: number, pixel: number, offset: number): number[] {
    const firsts = new Map<number, number>();
    for (let ts = Math.ceil((from - offset) / step) * step; ts < to - offset; ts += step) {
      const number = Math.floor(ts / pixel);
      if (!firsts.has(number)) firsts.set(number, ts + offset);
    }
    return [...firsts.values()];
  }

  it.each([800, 1013, 1280, 1600])("leaves no pixel out, and gives none twice, of %i", (width) => {
    for (const [from, offset] of [
      [0, 0],
      [123_456_789, 0],
      [123_456_789, 77_777_777],
      [-5e9, -1e6],
    ] as const) {
      const to = from + 60e9;
      const pixel = (to - from) / width;
      const first = pixelOf(from, pixel, offset);
      const columns = sent(from, to, pixel, offset).map((ts) => pixelOf(ts, pixel, offset) - first);
      // No line may come in the part of the first pixel that is shown.
      const [start = NaN] = columns;
      expect([0, 1]).toContain(start);
      expect(columns).toEqual(columns.map((_, at) => start + at));
    }
  });
});
