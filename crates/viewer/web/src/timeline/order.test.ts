import { describe, expect, it } from "vitest";
import { NO_TRACKS, type Tracks } from "../store/state";
import { page, track } from "../testing/page";
import { movedTo, shifted, shownTracks } from "./order";

const processes = ["a", "a", "b", "a", "b"];
const tracks = processes.map((process) => track({ process }));
const state = (change: Partial<Tracks> = {}): ReturnType<typeof page> =>
  page({ tracks }, { tracks: { ...NO_TRACKS, ...change } });

describe("shownTracks", () => {
  it("is the order of the trace", () => expect(shownTracks(state())).toEqual([0, 1, 2, 3, 4]));

  it("has pinned tracks first, then those that were moved, then the rest", () => {
    expect(shownTracks(state({ pinned: new Set([3]), order: [4, 2], hidden: new Set([0]) }))).toEqual([3, 4, 2, 1]);
  });
});

describe("filter and order of tracks", () => {
  const named = ["io", "main", "io"].map((name, at) =>
    track({ name, tid: 10 + at, busy_ns: [5, 1, 9][at] ?? 0, first_ns: [7, null, 3][at] ?? null }),
  );
  const shown = (change: Partial<Tracks>): number[] =>
    shownTracks(page({ tracks: named }, { tracks: { ...NO_TRACKS, ...change } }));

  it("shows tracks whose label has the text", () => {
    expect(shown({ filter: "IO" })).toEqual([0, 2]);
    expect(shown({ filter: "io 12" })).toEqual([2]);
  });

  it("sorts by time inside spans, and by name", () => {
    expect(shown({ sort: "busy" })).toEqual([2, 0, 1]);
    expect(shown({ sort: "name" })).toEqual([0, 2, 1]);
  });

  it("sorts by the first span; tracks without any come last", () => {
    expect(shown({ sort: "first" })).toEqual([2, 0, 1]);
  });
});

describe("shifted", () => {
  it("moves a track past its neighbor of the same process", () => {
    expect(shifted(state(), 1, 1)).toEqual([0, 2, 3, 1, 4]);
    expect(shifted(state(), 4, -1)).toEqual([0, 1, 4, 2, 3]);
  });

  it("moves nothing past the ends", () => {
    expect(shifted(state(), 0, -1)).toBeNull();
    expect(shifted(state(), 4, 1)).toBeNull();
  });

  it("keeps pinned tracks among themselves", () => {
    expect(shifted(state({ pinned: new Set([1, 4]) }), 4, -1)).toEqual([4, 1, 0, 2, 3]);
    expect(shifted(state({ pinned: new Set([1, 4]) }), 4, 1)).toBeNull();
  });
});

describe("movedTo", () => {
  it("takes the place of the track that it is dropped on", () => {
    expect(movedTo(state(), 0, 2)).toEqual([1, 2, 0, 3, 4]);
    expect(movedTo(state(), 4, 1)).toEqual([0, 4, 1, 2, 3]);
    expect(movedTo(state(), 2, 2)).toEqual([0, 1, 2, 3, 4]);
  });
});
