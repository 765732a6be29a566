import { describe, expect, it } from "vitest";
import { page, trace, track } from "../testing/page";
import type { EventDetails } from "../wire";
import {
  baseName,
  carried,
  extent,
  fading,
  firstCluster,
  flipped,
  isLoading,
  NOTHING,
  selected,
  selectedAt,
  within,
} from "./state";

const all = { from: 0, to: 1_000_000 };

describe("within", () => {
  it("keeps a view that is inside", () => expect(within(all, { from: 100, to: 300 })).toEqual({ from: 100, to: 300 }));

  it("lets nobody go far beyond the axis", () => {
    expect(within(all, { from: -5e6, to: -4.9e6 })).toEqual({ from: -100_000, to: 0 });
    expect(within(all, { from: 5e6, to: 5.1e6 })).toEqual({ from: 1_000_000, to: 1_100_000 });
  });

  it("is at most a fifth wider than the axis", () => {
    const { from, to } = within(all, { from: -1e9, to: 1e9 });
    expect(to - from).toBe(1_200_000);
    expect(from).toBe(-100_000);
  });

  it("is at least ten nanoseconds wide, and wider where times cannot be distinguished", () => {
    const near = within(all, { from: 500, to: 500 });
    expect(near.to - near.from).toBe(10);
    const late = 2 ** 60;
    const far = within({ from: late, to: late + 1e6 }, { from: late + 1, to: late + 2 });
    expect(far.to - far.from).toBeGreaterThanOrEqual(128 * 2 ** 60 * Number.EPSILON);
  });
});

describe("extent", () => {
  it("is one second if nothing has a time", () => {
    expect(extent(page({ from_ns: null, to_ns: null }))).toEqual({ from: 0, to: 1e9 });
  });

  it("is never empty", () => expect(extent(page({ from_ns: 5, to_ns: 5 }))).toEqual({ from: 5, to: 6 }));
});

describe("isLoading", () => {
  it("is true before the first answer and while a trace is read", () => {
    expect(isLoading(page({ revision: -1, traces: [] }))).toBe(true);
    expect(isLoading(page({ traces: [trace(), trace({ state: "loading" })] }))).toBe(true);
    expect(isLoading(page({ traces: [trace({ state: "failed" })] }))).toBe(false);
  });
});

describe("carried", () => {
  const event = { name: "GC", name_id: 0, id: 1, category: "", track: 1, ts_ns: 130, name_count: 1, args: null };
  const tracks = [track(), track({ trace: 1 })];
  const state = page({ traces: [trace(), trace()], tracks }, { selection: { ...NOTHING, event } });

  it("moves with its trace", () => {
    const moved = { ...state.server, traces: [trace(), trace({ offset_ns: 50 })] };
    expect(carried(state, moved).event?.ts_ns).toBe(180);
  });

  it("stays the same object if another trace moves", () => {
    const moved = { ...state.server, traces: [trace({ offset_ns: 50 }), trace()] };
    expect(carried(state, moved)).toBe(state.selection);
  });
});

describe("fading", () => {
  it("is soft next to a selected name", () => {
    const fade = fading(page({}, { selection: { ...NOTHING, name: 3 } }));
    expect([fade?.tone, fade?.isFaded(3), fade?.isFaded(4)]).toEqual(["soft", false, true]);
  });

  it("is strong while a search is active, and leaves the selected name alone", () => {
    const fade = fading(page({}, { selection: { ...NOTHING, name: 3 }, found: new Set([4]) }));
    expect([fade?.tone, fade?.isFaded(3), fade?.isFaded(4), fade?.isFaded(5)]).toEqual(["faint", false, false, true]);
  });

  it("leaves all alone if nothing was found", () => {
    expect(fading(page({}, { found: new Set() }))).toBeNull();
    expect(fading(page())).toBeNull();
  });
});

describe("selected", () => {
  const event = { ts_ns: 70 } as EventDetails;
  const place = { track: 0, kind: 0, depth: 0, index: 1 };

  it("forgets the event when a place is selected", () => {
    expect(selected({ ...NOTHING, event }, { place }).event).toBeNull();
    expect(selected({ ...NOTHING, event }, { name: 3 }).event).toBe(event);
  });

  it("keeps the start of a place until there is another place", () => {
    const before = selected(NOTHING, { place, ts: 12 });
    expect(selectedAt(selected(before, { name: 1 }))).toBe(12);
    expect(selectedAt(selected(before, { place: { ...place, index: 2 } }))).toBeNull();
    expect(selectedAt({ ...NOTHING, event })).toBe(70);
  });
});

describe("flipped", () => {
  it("adds and removes without changing the set", () => {
    const set = new Set([1]);
    expect([...flipped(set, 2)]).toEqual([1, 2]);
    expect([...flipped(set, 1)]).toEqual([]);
    expect([...set]).toEqual([1]);
  });
});

describe("baseName", () => {
  it.each([
    ["/a/b.prof", "b.prof"],
    ["C:\\x\\y.clog", "y.clog"],
    ["plain", "plain"],
    ["folder/", "folder/"],
    ["", ""],
  ])("%s", (path, expected) => expect(baseName(path)).toBe(expected));
});

describe("firstCluster", () => {
  const at = (from_ns: number, to_ns: number): ReturnType<typeof trace> => trace({ from_ns, to_ns });

  it("is all of traces that are near each other", () => {
    const traces = [at(0, 100), at(5_000, 5_010)];
    expect(firstCluster(page({ traces, from_ns: 0, to_ns: 5_010 }))).toEqual({ from: 0, to: 5_010 });
  });

  it("leaves out traces of other days, and closed ones", () => {
    const traces = [at(1e9, 1e9 + 100), at(0, 100), { ...at(-50, 10), state: "closed" as const }];
    expect(firstCluster(page({ traces, from_ns: 0, to_ns: 1e9 + 100 }))).toEqual({ from: 0, to: 100 });
  });
});
