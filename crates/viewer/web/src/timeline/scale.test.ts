import { describe, expect, it } from "vitest";
import type { Sample } from "../wire";
import { byClock, fromStart } from "./offsets";
import { columnsOf, sampleAt } from "./samples";
import { nsOf, xOf } from "./scale";

const view = { from: 1000, to: 2000 };

describe("scale", () => {
  it("goes from times to pixels and back", () => {
    expect(xOf(1250, 800, view)).toBe(200);
    expect(nsOf(200, 800, view)).toBe(1250);
    for (const ns of [-5e6, 1000, 1333.25, 2000, 1e12]) expect(nsOf(xOf(ns, 800, view), 800, view)).toBeCloseTo(ns, 3);
  });
});

const samples: Sample[] = [
  [900, 5, 5, 5],
  [1100, 1, 9, 3],
  [1105, 0, 3, 2],
  [1500, 7, 7, 7],
];

describe("sampleAt", () => {
  it("is the last one before a time", () => {
    expect(sampleAt(samples, 1104)).toBe(samples[1]);
    expect(sampleAt(samples, 1105)).toBe(samples[2]);
    expect(sampleAt(samples, 9e9)).toBe(samples[3]);
    expect(sampleAt(samples, 899)).toBeNull();
    expect(sampleAt([], 5)).toBeNull();
  });
});

describe("columnsOf", () => {
  const { last, low, high } = columnsOf(samples, 100, view);

  it("holds a value until the next one", () => {
    expect([last[0], last[9], last[11], last[49], last[50], last[99]]).toEqual([5, 5, 2, 2, 7, 7]);
    expect([low[30], high[30]]).toEqual([2, 2]);
  });

  it("has the extremes of all samples in a pixel, and of the value before them", () => {
    expect([low[10], high[10], last[10]]).toEqual([0, 9, 2]);
    expect([low[50], high[50]]).toEqual([2, 7]);
  });

  it("shows nothing before the first sample", () => {
    const later = columnsOf([[1500, 1, 1, 1]], 10, view).last;
    expect([...later]).toEqual([NaN, NaN, NaN, NaN, NaN, 1, 1, 1, 1, 1]);
  });
});

describe("offsets", () => {
  it("by time of day are exact although the times are not numbers", () => {
    const day = 1_700_000_000_123_456_789n;
    const traces = [day + 7n, day, day + 1_000_000_001n].map((origin) => ({ unix_origin_ns: String(origin) }));
    expect(byClock(traces)).toEqual([7, 0, 1_000_000_001]);
  });

  it("need the time of day of all traces", () => {
    expect(byClock([{ unix_origin_ns: "5" }, { unix_origin_ns: null }])).toBeNull();
    expect(byClock([])).toBeNull();
  });

  it("let all traces start together", () => {
    expect(fromStart([{ from_ns: 0 }, { from_ns: 50 }, { from_ns: -3 }])).toEqual([0, -50, 3]);
  });
});
