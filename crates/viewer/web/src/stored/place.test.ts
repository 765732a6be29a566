import { expect, it } from "vitest";
import { addressOf, placeOf } from "./place";

it("tells pages apart by their addresses", () => {
  expect(placeOf("?token=abc")).toEqual({ isStore: false, trace: null });
  expect(placeOf("?token=abc&store=1")).toEqual({ isStore: true, trace: null });
  expect(placeOf("?token=abc&store=1&trace=18446744073709551615")).toEqual({
    isStore: false,
    trace: "18446744073709551615",
  });
});

it("leads from the list to a trace and back", () => {
  const trace = addressOf("?token=abc&store=1", "7");
  expect(trace).toBe("?token=abc&store=1&trace=7");
  expect(addressOf(trace, "8&x=1")).toBe("?token=abc&store=1&trace=8%26x%3D1");
  expect(addressOf(trace, null)).toBe("?token=abc&store=1");
});
