import { describe, expect, it } from "vitest";
import { filterOf, marks, queryOf } from "./filter";
import { timeOfDay } from "./line";

const nothing = { text: "", regex: false, case: false, levels: [], site: null };

describe("filterOf", () => {
  it("takes a filter as it is", () => {
    const filter = { text: "a", regex: true, case: true, levels: ["WARN"], site: { trace: 1, id: 2, name: "x" } };
    expect(filterOf(filter)).toEqual(filter);
  });

  it.each([
    undefined,
    null,
    5,
    "text",
    { text: 1, regex: "yes", case: 1, levels: 3, site: "x" },
    { levels: [1, {}], site: { trace: 1.5, id: 2, name: "x" } },
    { site: { trace: 1, id: 2 } },
  ])("takes nothing of %j", (kept) => expect(filterOf(kept)).toEqual(nothing));

  it("fills up what another panel left out", () => {
    expect(filterOf({ text: "slow" })).toEqual({ ...nothing, text: "slow" });
  });
});

describe("queryOf", () => {
  it("asks for nothing if there is no filter", () => expect(queryOf(nothing)).toEqual({}));

  it("asks for all of it", () => {
    const filter = { text: "a", regex: true, case: true, levels: ["A", "B"], site: { trace: 1, id: -2, name: "x" } };
    expect(queryOf(filter)).toEqual({ text: "a", regex: true, case: true, levels: "A,B", site: "1:-2" });
  });
});

describe("marks", () => {
  const find = (text: string, wanted: string, change = {}): string[] =>
    marks(text, { ...nothing, text: wanted, ...change });

  it("cuts a text at what was searched for", () => {
    expect(find("Load, unload, LOAD", "load")).toEqual(["", "Load", ", un", "load", ", ", "LOAD", ""]);
    expect(find("Load, load", "load", { case: true })).toEqual(["Load, ", "load", ""]);
    expect(find("aaa", "aa")).toEqual(["", "aa", "a"]);
  });

  it("marks nothing for an expression, or for no text", () => {
    expect(find("load", "l.*", { regex: true })).toEqual(["load"]);
    expect(find("load", "")).toEqual(["load"]);
  });

  it("marks nothing where letters change their length with their case", () => {
    expect(find("İ load", "load")).toEqual(["İ load"]);
  });
});

describe("timeOfDay", () => {
  it("is exact to the microsecond", () => {
    expect(timeOfDay(1_500, "1700000000000000000")).toBe("2023-11-14 22:13:20.000001");
  });
});
