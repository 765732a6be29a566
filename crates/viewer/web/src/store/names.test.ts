import { expect, it } from "vitest";
import { Names } from "./names";

it("knows names by number and by text", () => {
  const names = Names.none().with(0, [
    ["draw", null],
    ["update", 0xff00ff00],
  ]);
  expect([names.count, names.text(1), names.color(1), names.color(0)]).toEqual([2, "update", 0xff00ff00, null]);
  expect([names.number("draw"), names.number("absent")]).toEqual([0, undefined]);
  expect([names.text(9), names.text(-1), names.color(9)]).toEqual(["", "", null]);
});

it("is another handle after a change, so that the store notifies", () => {
  const before = Names.none().with(0, [["draw", null]]);
  const after = before.with(0, [["draw", 5]]);
  expect(after).not.toBe(before);
  expect(after.color(0)).toBe(5);
  expect(after.with(1, [["more", null]]).count).toBe(2);
});
