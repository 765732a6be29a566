import { describe, expect, it } from "vitest";
import { page } from "../testing/page";
import { isWhole, rangeOf, scopeOf, selectionKey } from "./scope";
import { NOTHING } from "./state";

const selection = { ...NOTHING, range: { from: 10.4, to: 20.6 }, tracks: [1, 2] };

describe("scopeOf", () => {
  it("is everything if nothing is selected and nothing was chosen", () => expect(scopeOf(page())).toBe("all"));

  it("is a selection as soon as there is one", () => {
    expect(scopeOf(page({}, { selection, links: { range: { scope: "window" } } }))).toBe("selection");
    expect(scopeOf(page({}, { selection: { ...NOTHING, tracks: [] } }))).toBe("all");
  });

  it("is what else was asked for, until something else is selected", () => {
    const links = { range: { scope: "window", except: selectionKey(selection) } };
    expect(scopeOf(page({}, { selection, links }))).toBe("window");
    const other = { ...selection, range: { from: 10, to: 30 } };
    expect(scopeOf(page({}, { selection: other, links }))).toBe("selection");
  });

  it.each([5, null, "x", { scope: 7, except: {} }, []])("takes a link that holds %j", (range) => {
    expect(scopeOf(page({}, { links: { range } }))).toBe("all");
  });
});

describe("rangeOf", () => {
  it("is in whole nanoseconds, with the tracks of the selection", () => {
    expect(rangeOf(page({}, { selection }))).toEqual({ from: 10, to: 21, tracks: "1,2" });
  });

  it("is the view, without the tracks, if the window is asked for", () => {
    const links = { range: { scope: "window", except: selectionKey(selection) } };
    const state = page({}, { selection, links, view: { from: 1.6, to: 9 } });
    expect(rangeOf(state)).toEqual({ from: 2, to: 9 });
  });

  it("says nothing about everything", () => {
    expect(rangeOf(page())).toEqual({});
    expect(isWhole(rangeOf(page()))).toBe(true);
    expect(isWhole({ tracks: "1" })).toBe(false);
  });
});
