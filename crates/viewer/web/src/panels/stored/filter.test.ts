import { expect, it } from "vitest";
import { filterOf, isSortedBy, queryOf, sorted, tagged } from "./filter";

const fresh = filterOf(undefined);

it.each([null, 5, "x", [], { text: 7, tags: ["a"], state: "odd", sort: {}, column: 1, isDown: "no", at: -3 }])(
  "takes a link that holds %j",
  (kept) => {
    const filter = filterOf(kept);
    expect({ ...filter, tags: {} }).toEqual({ ...fresh, tags: {} });
  },
);

it("keeps what a link says", () => {
  const kept = {
    text: "slow",
    tags: { host: "web1", day: 5 },
    state: "damaged",
    sort: "tag",
    column: "host",
    isDown: false,
    at: 12.7,
  };
  expect(filterOf(kept)).toEqual({ ...kept, tags: { host: "web1" }, at: 12 });
});

it("asks for a window of what is wanted", () => {
  const filter = tagged(tagged({ ...fresh, text: "a b" }, "host", "web1"), "day", "2026-11-16");
  expect(queryOf(filter, 200, 100)).toEqual({
    text: "a b",
    tags: { host: ["web1"], day: ["2026-11-16"] },
    state: "all",
    sort: "start",
    column: "",
    is_down: true,
    skip: 200,
    take: 100,
  });
  expect(tagged(filter, "host", null).tags).toEqual({ day: "2026-11-16" });
});

it("sorts texts from A, numbers and days from the largest, and then the other way around", () => {
  const by = sorted(fresh, "tag", "host");
  expect([by.isDown, isSortedBy(by, "tag", "host"), isSortedBy(by, "tag", "day")]).toEqual([false, true, false]);
  expect(sorted(by, "tag", "host").isDown).toBe(true);
  expect([sorted(by, "tag", "day").isDown, sorted(by, "bytes").isDown, sorted(by, "path").isDown]).toEqual([
    true,
    true,
    false,
  ]);
});
