import { expect, it } from "vitest";
import { light } from "../../colors";
import { svgOf } from "./svg";

const peak = { all_sites: 0, bytes: 2000, count: 1, sites: [], ts_ns: 500 };
const curve: [number, number, number][] = [
  [0, 1000, 1000],
  [500, 2000, 2000],
  [800, 500, 2000],
];

it("steps from point to point and names the peak", () => {
  const svg = svgOf({ curve, first_ns: 0, last_ns: 1000, is_growth_only: false, peak }, light);
  expect(svg).toContain("L0.0,152.0 L600.0,152.0 L600.0,24.0 L960.0,24.0 L960.0,216.0 L1200.0,216.0");
  expect(svg).toContain('<path d="M600.0,24 V280"');
  expect(svg).toContain(">peak 2 kB</text>");
});

it("has no peak if only growth is known", () => {
  expect(svgOf({ curve, first_ns: 0, last_ns: 1000, is_growth_only: true, peak }, light)).not.toContain("peak");
});
