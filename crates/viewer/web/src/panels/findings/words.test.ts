import { describe, expect, it } from "vitest";
import { amount, HELP, longestPart, rank, titleOf } from "./words";

describe("words", () => {
  it("make a code readable", () => {
    expect(titleOf("made.count-mismatch")).toBe("Count mismatch");
    expect(titleOf("plain")).toBe("Plain");
  });

  it("rank severities", () =>
    expect(["error", "note", "warning"].sort((a, b) => rank(b) - rank(a))).toEqual(["error", "warning", "note"]));

  it.each([
    [1234.4, "count", "1,234"],
    [2_500_000, "ns", "2.5 ms"],
    [0.256, "part", "25.6 %"],
    [3.04, "times", "3.0 times"],
    [-5, "bytes", "0 B"],
    [1.5, "number", "1.5"],
  ] as const)("%s %s", (value, unit, expected) => expect(amount(value, unit)).toBe(expected));

  it("say something else for each rule", () => {
    expect(new Set(Object.values(HELP)).size).toBe(Object.keys(HELP).length);
  });

  it("find the longest fixed part of a format", () => {
    expect(longestPart("%s: request %-5d took %.2f ms")).toBe(": request");
    expect(longestPart("%d%%")).toBe("");
  });
});
