import { describe, expect, it } from "vitest";
import { NOTHING } from "../store/state";
import { page, trace, track } from "../testing/page";
import { aboutSelection, noteTime } from "./notes";

const traces = [trace(), trace({ offset_ns: 100 })];

describe("aboutSelection", () => {
  it("is the middle of what is in view", () => {
    const about = aboutSelection(page({ traces }, { view: { from: 10, to: 20 } }));
    expect(about).toEqual({ trace: 0, note: { ts_ns: 15, dur_ns: null, name: null, text: "" } });
  });

  it("is the selected range", () => {
    const about = aboutSelection(page({ traces }, { selection: { ...NOTHING, range: { from: 4, to: 9 } } }));
    expect(about?.note).toMatchObject({ ts_ns: 4, dur_ns: 5 });
  });

  it("is in the time of the trace that the event is of", () => {
    const event = { name: "GC", name_id: 0, id: 1, category: "", track: 1, ts_ns: 130, name_count: 1, args: null };
    const state = page({ traces, tracks: [track(), track({ trace: 1 })] }, { selection: { ...NOTHING, event } });
    const about = aboutSelection(state);
    expect(about).toMatchObject({ trace: 1, note: { ts_ns: 30, name: "GC" } });
    expect(about && noteTime(state, about)).toBe(130);
  });

  it("is nothing without a trace", () => expect(aboutSelection(page({ traces: [] }))).toBeNull());
});
