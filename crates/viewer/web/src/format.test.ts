import { describe, expect, it } from "vitest";
import { bytes, count, duration, figure, moment, parseTime, share, tick, tickStep, wallClock } from "./format";

describe("duration", () => {
  it.each([
    [0, "0 ns"],
    [999, "999 ns"],
    [1000, "1 µs"],
    [1234, "1.234 µs"],
    [48_920, "48.92 µs"],
    [123_456_789, "123.5 ms"],
    [61e9, "61 s"],
    [72_000e9, "20 h"],
    [900e9, "15 min"],
    [-2_500_000, "-2.5 ms"],
    [null, "still open"],
  ])("%s", (ns, expected) => expect(duration(ns)).toBe(expected));
});

describe("moment", () => {
  it("is as exact as the step", () => {
    expect(moment(1_500_000_000)).toBe("1.5 s");
    expect(moment(3_876_900)).toBe("3.8769 ms");
    expect(moment(816_663_400)).toBe("816.6634 ms");
    expect(moment(12_000_000_001)).toBe("12.000000001 s");
    expect(moment(0)).toBe("0 ns");
    expect(moment(3_876_900, 1e3)).toBe("3.877 ms");
    expect(moment(1_500_000_000, 1e6)).toBe("1.500 s");
    expect(moment(1_500_000_000, 2e9)).toBe("2 s");
  });
});

describe("tickStep", () => {
  it.each([
    [0.3, 1],
    [1, 1],
    [3, 5],
    [70, 100],
    [1_100_000, 2_000_000],
    [9.5e8, 1e9],
    [3e9, 5e9],
    [40e9, 60e9],
    [50_000e9, 86_400e9],
    [100_000e9, 172_800e9],
  ])("at least %s", (least, expected) => expect(tickStep(least)).toBe(expected));
});

describe("tick", () => {
  it.each([
    [1_500_000, 500_000, 4e6, "1.5 ms"],
    [0, 1e6, 5e6, "0 ms"],
    [-0.000001, 1e6, 5e6, "0 ms"],
    [65e9, 5e9, 300e9, "1:05"],
    [3_725e9, 60e9, 4_000e9, "1:02:05"],
    [90_061e9, 60e9, 100_000e9, "1 d 01:01:01"],
    [-65e9, 5e9, 300e9, "-1:05"],
    [12, 1, 40, "12 ns"],
  ])("%s by %s up to %s", (ns, step, furthest, expected) => expect(tick(ns, step, furthest)).toBe(expected));
});

describe("wallClock", () => {
  it("is exact to the nanosecond", () => {
    expect(wallClock("1700000000123456789", 1)).toBe("2023-11-14 22:13:20.123456790 UTC");
  });

  it("knows times before 1970", () => expect(wallClock("-1", 0)).toBe("1969-12-31 23:59:59.999999999 UTC"));

  it("says nothing about times that no calendar has", () => {
    expect(wallClock("99999999999999999999999999", 0)).toBe("");
  });
});

describe("figures", () => {
  it("have as many digits as can be distinguished", () => {
    expect([figure(1_234_567), figure(0.123456789), figure(-5), figure(1e20)]).toEqual([
      "1,234,567",
      "0.123457",
      "-5",
      "100000000000000000000",
    ]);
  });

  it.each([
    [0, "0 B"],
    [9_999, "10 kB"],
    [10_000, "10 kB"],
    [12_345_678, "12.3 MB"],
    [3e16, "30000 TB"],
  ])("%s bytes", (value, expected) => expect(bytes(value)).toBe(expected));

  it("count and share", () => {
    expect([count(1_234_567), share(1, 3), share(1, 0)]).toEqual(["1,234,567", "33.3 %", ""]);
  });
});

describe("parseTime", () => {
  it.each([
    ["1.5s", 1_500_000_000],
    ["250ms", 250_000_000],
    [" -12 us ", -12_000],
    ["3µs", 3_000],
    ["7", 7e9],
    ["2h", 7_200e9],
    ["", null],
    ["1.2.3s", null],
    ["5 weeks", null],
    ["ms", null],
  ])("%s", (text, expected) => expect(parseTime(text)).toBe(expected));

  it("reads what is shown", () => {
    for (const ns of [1, 999, 48_920, 1_500_000, 61e9]) expect(parseTime(duration(ns))).toBe(ns);
  });
});
