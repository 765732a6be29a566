import { describe, expect, it } from "vitest";
import { chartOf, hintsOf, shownAs, titleOf, trackOf, type Answer } from "./answer";

function answer(columns: string[], rows: (string | null)[][]): Answer {
  const isNumber = (at: number): boolean => rows.every((row) => row[at] === null || /^-?[\d.]+$/.test(row[at] ?? ""));
  return { columns: columns.map((name, at) => [name, isNumber(at)]), rows };
}

const spans = answer(
  ["name", "ts_ns", "dur_ns", "thread_id"],
  [
    ["late", "50", "10", "1"],
    ["long", "0", "100", "1"],
    ["short", "10", "5", "2"],
    ["none", null, "5", "2"],
  ],
);

describe("trackOf", () => {
  it("puts spans into rows in which none overlap", () => {
    const track = trackOf("select", spans);
    expect(track?.marks.map(({ label, ts, dur, depth }) => [label, ts, dur, depth])).toEqual([
      ["long", 0, 100, 0],
      ["short", 10, 5, 1],
      ["late", 50, 10, 1],
    ]);
    expect([track?.depth, track?.values]).toEqual([2, null]);
  });

  it("draws a time and a number as values", () => {
    const track = trackOf(
      "select",
      answer(
        ["ts_ns", "lines"],
        [
          ["20", "3"],
          ["10", "5"],
          ["30", null],
        ],
      ),
    );
    expect(track?.values).toEqual({
      column: "lines",
      points: [
        [10, 5],
        [20, 3],
      ],
    });
  });

  it("marks moments", () => {
    const track = trackOf("select", answer(["ts_ns", "message"], [["20", "here"]]));
    expect(track?.marks.map(({ ts, dur, label }) => [ts, dur, label])).toEqual([[20, 0, "here"]]);
  });

  it("is nothing without a time", () => {
    expect(trackOf("select", answer(["name", "calls"], [["a", "1"]]))).toBeNull();
    expect(trackOf("select", answer(["ts_ns"], [["noon"]]))).toBeNull();
  });

  it("is bounded however much overlaps", () => {
    const rows = Array.from({ length: 50 }, (_, at) => [String(at), "1000"]);
    expect(trackOf("select", answer(["start_ns", "duration_ns"], rows))?.depth).toBe(8);
  });
});

describe("chartOf", () => {
  it.each([
    ["bars of a label", ["name", "calls", "total_ns"], [["a", "1", "2"]], { kind: "bars", label: 0, values: [1, 2] }],
    ["a line over time", ["ts_ns", "lines"], [["1", "2"]], { kind: "line", along: 0, values: [1] }],
    ["a line over a number", ["size", "count"], [["1", "2"]], { kind: "line", along: 0, values: [1] }],
    ["nothing without numbers", ["name", "message"], [["a", "b"]], null],
    ["no chart of ids", ["name", "thread_id"], [["a", "1"]], null],
  ])("%s", (_, columns, rows, expected) => expect(chartOf(answer(columns, rows))).toEqual(expected));
});

it("calls a track by what is on it", () => {
  const title = (made: Answer): string | null => {
    const track = trackOf("select  1", made);
    return track && titleOf(track);
  };
  expect(title(spans)).toBe("SQL: long, short, late");
  expect(title(answer(["ts_ns", "lines"], [["20", "3"]]))).toBe("SQL: lines");
  expect(title(answer(["ts_ns"], [["20"]]))).toBe("SQL: select 1");
});

it("knows the span that a row means", () => {
  expect(hintsOf(spans, spans.rows[0] ?? [])).toMatchObject({ ts: 50, dur: 10, name: "late", thread_id: 1 });
  expect(hintsOf(spans, spans.rows[3] ?? [])).toBeNull();
});

it("shows times and bytes as such", () => {
  expect([shownAs("total_ns", 1500), shownAs("size_bytes", 2000), shownAs("calls", 12)]).toEqual([
    "1.5 µs",
    "2 kB",
    "12",
  ]);
});
