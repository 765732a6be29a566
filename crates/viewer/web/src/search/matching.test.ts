import { describe, expect, it } from "vitest";
import { page, track } from "../testing/page";
import { nextIn, summary, tracksWith } from "./matching";

const state = page({
  tracks: [
    track({ name: "Main", tid: 100 }),
    track({ name: "", tid: 2100, process: "Game (7)" }),
    track({ name: "main loader", tid: null, spans: 0, events: 0, switches: 0 }),
    track({ name: "worker", kind: "zone", tid: 3, spans: 0, events: 4 }),
  ],
});

describe("tracksWith", () => {
  it.each([
    ["MAIN", [0]],
    ["100", [0, 1]],
    ["game", [1]],
    ["thread 2", [1]],
    ["zone", [3]],
    ["nothing", []],
  ])("%s", (text, expected) => expect(tracksWith(state, text)).toEqual(expected));
});

describe("summary", () => {
  it("counts spans, events, names and threads", () => {
    expect(summary({ spans: 1200, events: 1, names: 2 }, 3)).toBe("1,200 spans, 1 event in 2 names · 3 threads");
    expect(summary({ spans: 1, events: 0, names: 1 }, 0)).toBe("1 span in 1 name");
    expect(summary({ spans: 0, events: 0, names: 0 }, 1)).toBe("1 thread");
    expect(summary({ spans: 0, events: 0, names: 0 }, 0)).toBe("none");
  });
});

describe("nextIn", () => {
  it("starts at either end and goes around", () => {
    expect([nextIn(3, -1, false), nextIn(3, -1, true)]).toEqual([0, 2]);
    expect([nextIn(3, 2, false), nextIn(3, 0, true), nextIn(3, 1, false)]).toEqual([0, 2, 2]);
  });
});
