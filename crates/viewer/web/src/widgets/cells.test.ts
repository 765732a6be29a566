import { describe, expect, it } from "vitest";
import { compare, number } from "./cells";
import { csvCell } from "./csv";

describe("csvCell", () => {
  it.each([
    ["plain", "plain"],
    ['say "hi", then', '"say ""hi"", then"'],
    ["two\nlines", '"two\nlines"'],
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
    ["-5", "-5"],
    ["-x", "'-x"],
    ["+1,2", '"\'+1,2"'],
  ])("%j", (text, expected) => expect(csvCell(text)).toBe(expected));
});

describe("compare", () => {
  it("puts what is not a number before all numbers", () => {
    expect([3, NaN, -1, 2, NaN].sort(compare)).toEqual([NaN, NaN, -1, 2, 3]);
  });

  it("writes no number as nothing", () => expect([number(NaN), number(0.5)]).toEqual(["", "0.5"]));
});
