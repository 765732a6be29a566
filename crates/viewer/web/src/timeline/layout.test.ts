import { describe, expect, it } from "vitest";
import { Names } from "../store/names";
import { NO_TRACKS } from "../store/state";
import { counter, page, trace, track } from "../testing/page";
import { between, CHART, GROUP, HEAD, layout, LOG, ROW, RULER, type Strip } from "./layout";
import { trackLabel } from "./names";

const kinds = (strips: Strip[]): string[] => strips.map((strip) => `${strip.kind} ${strip.number}`);

describe("layout", () => {
  it("puts strips below each other without gaps, below the ruler", () => {
    const { strips, height } = layout(page({ tracks: [track({ depth: 3 }), track({ switches: 2 })] }));
    let top = RULER;
    for (const strip of strips) {
      expect(strip.top).toBe(top);
      top += strip.height;
    }
    expect(height).toBe(top + 24);
    expect(strips.map((strip) => strip.height)).toEqual([HEAD, 3 * ROW, HEAD, 10, ROW]);
  });

  it("shows what a track has, in one order, and its values below", () => {
    const all = { switches: 1, frame_depth: 1, range_depth: 2, depth: 4, instants: 1 };
    const counters = [counter({ track: 0 }), counter({ track: 0, is_text: true }), counter()];
    const names = Names.none().with(0, [["load", null]]);
    const { strips } = layout(page({ tracks: [track(all)], counters }, { names }));
    expect(kinds(strips)).toEqual([
      "counter 2",
      "head 0",
      "switches 0",
      "frames 0",
      "ranges 0",
      "spans 0",
      "events 0",
      "counter 0",
      "text 1",
    ]);
    expect(strips.at(-2)).toMatchObject({ label: "load", height: CHART, track: 0 });
  });

  it("leaves out tracks with nothing on them, and hidden ones", () => {
    const tracks = [track({ spans: 0, depth: 0 }), track(), track()];
    const state = page({ tracks }, { tracks: { ...NO_TRACKS, hidden: new Set([2]) } });
    expect(kinds(layout(state).strips)).toEqual(["head 1", "spans 1"]);
  });

  it("folds a track to one row", () => {
    const state = page(
      { tracks: [track({ depth: 9, instants: 4 })] },
      { tracks: { ...NO_TRACKS, folded: new Set([0]) } },
    );
    expect(layout(state).strips.map(({ kind, height }) => [kind, height])).toEqual([
      ["head", HEAD],
      ["spans", ROW],
    ]);
  });

  it("has headings for several traces, with memory and log below the first", () => {
    const traces = [trace({ path: "/x/a.prof" }), trace({ path: "/x/b.clog", logs: 5, memory: 10 })];
    const { strips } = layout(page({ traces, tracks: [track()] }));
    expect(kinds(strips)).toEqual(["group 0", "head 0", "spans 0", "group 1", "memory 1", "logs 1"]);
    expect(strips.filter((strip) => strip.kind === "group").map((strip) => strip.label)).toEqual(["a.prof", "b.clog"]);
    expect([strips[0]?.height, strips.at(-1)?.height]).toEqual([GROUP, LOG]);
  });

  it("has headings for several processes, and folds them", () => {
    const tracks = [track({ process: "one" }), track({ process: "two" })];
    expect(kinds(layout(page({ tracks })).strips)).toEqual([
      "group 0",
      "head 0",
      "spans 0",
      "group 0",
      "head 1",
      "spans 1",
    ]);
    const folded = page({ tracks }, { tracks: { ...NO_TRACKS, groups: new Set(["0/one"]) } });
    expect(kinds(layout(folded).strips)).toEqual(["group 0", "group 0", "head 1", "spans 1"]);
  });

  it("puts pinned tracks on top, above all headings", () => {
    const traces = [trace(), trace()];
    const tracks = [track(), track({ trace: 1 })];
    const state = page({ traces, tracks }, { tracks: { ...NO_TRACKS, pinned: new Set([1]) } });
    expect(kinds(layout(state).strips)).toEqual(["head 1", "spans 1", "group 0", "head 0", "spans 0", "group 1"]);
  });
});

describe("between", () => {
  const { strips } = layout(page({ tracks: Array.from({ length: 50 }, () => track()) }));

  it("gives every strip that reaches into a part of the page, and no other", () => {
    for (const [top, bottom] of [
      [0, 1],
      [RULER, RULER + 1],
      [500, 700],
      [0, 1e6],
      [1e6, 2e6],
    ] as const) {
      const expected = strips.filter((strip) => strip.top < bottom && strip.top + strip.height > top);
      expect(between(strips, top, bottom)).toEqual(expected);
    }
  });
});

describe("trackLabel", () => {
  it.each([
    [{ name: "Main", kind: "" }, "Main"],
    [{ name: "Main", kind: "domain" }, "Main (domain)"],
    [{ name: "zone", kind: "zone" }, "zone"],
    [{ name: "", tid: 12 }, "thread 12"],
    [{ name: "", tid: null, process: "game" }, "game"],
    [{ name: "", tid: null }, "thread"],
  ])("%j", (change, expected) => expect(trackLabel(page({ tracks: [track(change)] }), 0)).toBe(expected));
});

describe("closed and failed traces", () => {
  it("have no heading", () => {
    const traces = [trace(), trace({ state: "closed" }), trace({ state: "failed", to_ns: 0 })];
    const { strips } = layout(page({ traces, tracks: [track(), track({ trace: 1 })] }));
    expect(kinds(strips)).toEqual(["group 0", "head 0", "spans 0"]);
  });
});

describe("many tracks", () => {
  it("are one compact row each on request", () => {
    const state = page({ tracks: [track({ name: "io", depth: 5 })] }, { tracks: { ...NO_TRACKS, isCompact: true } });
    expect(layout(state).strips).toMatchObject([{ kind: "spans", height: 12, label: "io" }]);
  });

  it("have the number of the thread if names repeat", () => {
    const state = page({
      tracks: [track({ name: "io", tid: 3 }), track({ name: "io", tid: 4 }), track({ name: "x" })],
    });
    expect([0, 1, 2].map((number) => trackLabel(state, number))).toEqual(["io 3", "io 4", "x"]);
  });

  it("report how many threads and series share a row", () => {
    const state = page({ tracks: [track({ threads: 1_234 })], counters: [counter({ series: 5_000 })] });
    expect(layout(state).strips.map((strip) => strip.label)).toEqual(["5,000 more series", "1,234 more threads", ""]);
  });

  it("have bookmarks in a row of their own", () => {
    const { strips } = layout(page({ tracks: [track({ bookmarks: 2, instants: 1 })] }));
    expect(kinds(strips)).toEqual(["head 0", "bookmarks 0", "spans 0", "events 0"]);
  });
});
