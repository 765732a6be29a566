import { describe, expect, it } from "vitest";
import { isSteady, slope } from "./lists";

describe("growth", () => {
  it("is how much more a site takes from quarter to quarter", () => {
    expect(slope([10, 20, 30, 40])).toBe(10);
    expect(slope([40, 30, 20, 10])).toBe(-10);
    expect(slope([1000, 0, 0, 0])).toBeLessThan(0);
  });

  it("is steady if each quarter takes at least as much as the one before", () => {
    expect([isSteady([1, 1, 2, 2]), isSteady([0, 1, 2, 3]), isSteady([3, 2, 3, 4])]).toEqual([true, false, false]);
  });
});
