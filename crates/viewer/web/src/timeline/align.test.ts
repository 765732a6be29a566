import { describe, expect, it } from "vitest";
import { Names } from "../store/names";
import { NOTHING } from "../store/state";
import { page, trace, track } from "../testing/page";
import { aligned, anchorOf, anchorTime, meeting } from "./align";

const traces = [trace(), trace({ path: "/traces/later.prof", offset_ns: 100 })];
const tracks = [track(), track({ trace: 1 })];
const event = { name: "GC", name_id: 0, id: 1, category: "", track: 1, ts_ns: 130, name_count: 1, args: null };
const names = Names.none().with(0, [["GC", null]]);
const state = page({ traces, tracks }, { names, selection: { ...NOTHING, event, name: 0 } });

describe("anchorOf", () => {
  it("is the start of the selection in the time of its trace", () => {
    const anchor = anchorOf(state);
    expect(anchor).toEqual({ trace: 1, track: 1, ts: 30, name: "GC" });
    expect(anchor && anchorTime(state, anchor)).toBe(130);
  });

  it("is nothing without a selection", () => expect(anchorOf(page({ traces, tracks }))).toBeNull());
});

describe("meeting", () => {
  it("puts one start on the other, wherever its trace was moved to", () => {
    const [first, second] = [
      { trace: 0, track: 0, ts: 500, name: "Frame" },
      { trace: 1, track: 1, ts: 30, name: "GC" },
    ];
    expect(meeting(state, second, first)).toBe(470);
    expect(meeting(state, first, second)).toBe(-370);
  });
});

describe("aligned", () => {
  it("names what was moved and what has too few", () => {
    const found = aligned(state, "Frame", { number: 3, traces: [{ trace: 1, ts_ns: 5, count: 9 }] });
    expect(found).toBe("Moved later.prof: Frame number 3 starts here. u undoes it.");
    const short = aligned(state, "Frame", { number: 3, traces: [{ trace: 1, ts_ns: null, count: 2 }] });
    expect(short).toBe("Fewer than 3 of Frame: later.prof (2).");
  });
});
