import { describe, expect, it } from "vitest";
import { byClock, fromStart } from "./offsets";

const at = (...origins: (string | null)[]): { unix_origin_ns: string | null }[] =>
  origins.map((unix_origin_ns) => ({ unix_origin_ns }));

describe("byClock", () => {
  it("keeps the earliest trace, to the nanosecond", () => {
    const traces = at("1700000000250000001", "1700000000000000000", "1700000003000000000");
    expect(byClock(traces)).toEqual([250_000_001, 0, 3e9]);
  });

  it("needs the time of day of every trace", () => {
    expect(byClock(at("1700000000000000000", null))).toBeNull();
    expect(byClock([])).toBeNull();
  });
});

describe("fromStart", () => {
  it("lets every trace start at 0", () => {
    expect(fromStart([{ from_ns: 5 }, { from_ns: 0 }, { from_ns: -7 }])).toEqual([-5, 0, 7]);
  });
});
