import { describe, expect, it } from "vitest";
import { isJump, linkTo, panelsOf, parsed, placeIn, restored, written, wrongOffsets, type Linked } from "./link";
import { Names } from "./store/names";
import { NO_TRACKS, NOTHING } from "./store/state";
import { page, trace, track } from "./testing/page";
import type { EventDetails } from "./wire";

const names = Names.none().with(0, [
  ["draw", null],
  ["größe 😀 #%&", null],
]);

const full = page(
  { traces: [trace({ offset_ns: 250 }), trace()], tracks: [track(), track(), track()] },
  {
    names,
    view: { from: 10.2, to: 990.7 },
    selection: {
      ...NOTHING,
      name: 1,
      range: { from: 100, to: 200 },
      tracks: [0, 2],
      place: { track: 1, kind: 0, depth: 2, index: 7 },
    },
    tracks: {
      folded: new Set([1]),
      hidden: new Set([2]),
      pinned: new Set([0]),
      order: [2, 0, 1],
      groups: new Set(["0/game"]),
      filter: "work",
      sort: "busy",
      isCompact: true,
    },
    scroll: 12.6,
    panel: "log",
    links: { log: { text: "a b", levels: ["WARN"] }, stats: { by: "thread" } },
    panelHeight: 300,
  },
);

describe("a link", () => {
  it("comes back from an address as it went into it", () => {
    expect(parsed(written(linkTo(full)))).toEqual(linkTo(full));
  });

  it("opens the same page again", () => {
    const link = parsed(written(linkTo(full))) as Linked;
    const fresh = page({ traces: full.server.traces, tracks: full.server.tracks }, { names, links: panelsOf(link) });
    const again = { ...fresh, ...restored(link, fresh), view: { from: link.from, to: link.to } };
    const selection = { ...again.selection, place: full.selection.place };
    expect(linkTo({ ...again, selection })).toEqual(linkTo(full));
    expect(placeIn(link)).toMatchObject({ track: 1, kind: 0, depth: 2, index: 7 });
  });

  it("keeps an event by its id and its time", () => {
    const event = { track: 2, id: 44, ts_ns: 777 } as EventDetails;
    const link = linkTo({ ...full, selection: { ...NOTHING, event } });
    expect(placeIn(link)).toEqual({ track: 2, kind: 4, depth: 0, index: 44, ts: 777 });
  });

  it("knows a name by its text, which may have another number by now", () => {
    const link = linkTo(full);
    const other = page({}, { names: Names.none().with(0, [["größe 😀 #%&", null]]) });
    expect(restored(link, other).selection?.name).toBe(0);
    expect(restored(link, page()).selection?.name).toBeNull();
  });
});

describe("an odd link", () => {
  it.each(["", "#", "#nonsense", "#%", "#null", "#5", '#{"from":1,"to":0}', '#{"from":"a","to":5}', "#[]"])(
    "is none: %s",
    (fragment) => expect(parsed(fragment)).toBeNull(),
  );

  it("changes nothing that it has no right idea of", () => {
    const odd = {
      from: 0,
      to: 5,
      name: 7,
      panel: 9,
      range: ["a", {}],
      tracks: "x",
      place: { track: "x" },
      folded: "x",
      groups: 5,
      hidden: [1, "y", null],
      pinned: {},
      order: null,
      scroll: "far",
      height: {},
      offsets: "x",
      panels: 8,
    } as unknown as Linked;
    const link = parsed(written(odd)) as Linked;
    expect(restored(link, page())).toEqual({
      tracks: { ...NO_TRACKS, hidden: new Set([1]) },
      scroll: 0,
      panelHeight: null,
      selection: NOTHING,
    });
    expect(placeIn(link)).toBeNull();
    expect(panelsOf(link)).toEqual({});
    expect(wrongOffsets(link, full)).toEqual([]);
  });

  it("needs no more than a view", () => {
    const link = parsed('#{"from":0,"to":500,"range":[100,200],"name":"draw"}') as Linked;
    expect(restored(link, { ...full, selection: NOTHING })).toEqual({
      tracks: NO_TRACKS,
      scroll: 0,
      panelHeight: null,
      selection: { ...NOTHING, name: 0, range: { from: 100, to: 200 } },
    });
    expect([placeIn(link), panelsOf(link), wrongOffsets(link, full)]).toEqual([null, {}, []]);
    expect([isJump(link, link), isJump(link, linkTo(full)), isJump(linkTo(full), link)]).toEqual([false, true, true]);
  });

  it("selects no range that ends before it starts", () => {
    const link = { ...linkTo(full), range: [9, 3] as [number, number] };
    expect(restored(link, full).selection?.range).toBeNull();
  });
});

describe("offsets of a link", () => {
  it("are those that the traces do not have yet", () => {
    const link = { ...linkTo(full), offsets: [250, -5, 99] };
    expect(wrongOffsets(link, full)).toEqual([{ trace: 1, ns: -5 }]);
    expect(wrongOffsets(null, full)).toEqual([]);
  });
});

describe("isJump", () => {
  const link = { ...linkTo(full), from: 0, to: 100 };
  it.each([
    ["a small move", { from: 10, to: 110 }, false],
    ["another place", { from: 200, to: 300 }, true],
    ["a close look", { from: 50, to: 51 }, true],
    ["another panel", { panel: "sql" }, true],
    ["another selection", { name: "x" }, true],
    ["a scroll", { scroll: 99 }, false],
    ["a trace that was moved", { offsets: link.offsets.map((ns) => ns + 5) }, true],
    ["a trace that was added", { offsets: [...link.offsets, 7] }, false],
  ])("%s", (_, change, expected) => expect(isJump(link, { ...link, ...change })).toBe(expected));
});
