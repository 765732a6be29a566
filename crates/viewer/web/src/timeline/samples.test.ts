import { expect, it } from "vitest";
import { smoothed } from "./samples";

it("leaves no gaps and no peaks where lines come as regularly as pixels", () => {
  const counts = Array.from({ length: 60 }, (_, at) => (at % 20 === 10 ? 0 : at % 20 === 11 ? 24 : 12));
  const values = smoothed(counts);
  expect(Math.min(...values)).toBeGreaterThan(7);
  expect(Math.max(...values)).toBeLessThan(17);
  expect(smoothed([0, 0, 0])).toEqual([0, 0, 0]);
});
