// Determines how an SQL result can be shown besides a table, by the names and types of its columns.

import { bytes, duration, figure } from "../format";
import type { PlaceQuery, SqlRows } from "../wire";

export type Row = SqlRows["rows"][number];

/** The columns and rows of a result. */
export type Answer = Pick<SqlRows, "columns" | "rows">;

const TIMES = ["ts_ns", "start_ns", "time_ns"];
const DURATIONS = ["dur_ns", "duration_ns"];
/** Numeric columns that identify a row instead of measuring something. */
const IDS = /(^|_)(id|tid|pid|line|depth|level|position)$/;

/** The index of the first column with one of these names; -1 if there is none. */
function columnOf({ columns }: Answer, names: readonly string[]): number {
  const all = columns.map(([name]) => name.toLowerCase());
  return names.map((name) => all.indexOf(name)).find((at) => at >= 0) ?? -1;
}

/** Columns that measure something. */
export function measures(answer: Answer): number[] {
  const time = columnOf(answer, TIMES);
  return answer.columns.flatMap(([name, isNumber], at) => (isNumber && at !== time && !IDS.test(name) ? [at] : []));
}

/** The label column of a row: its name, or the first text column. */
export function labelOf(answer: Answer): number {
  const named = columnOf(answer, ["name", "label"]);
  return named >= 0 ? named : answer.columns.findIndex(([, isNumber]) => !isNumber);
}

/** A human-readable value of a column. */
export function shownAs(column: string, value: number): string {
  if (column.endsWith("_ns")) return duration(value);
  return column.endsWith("bytes") ? bytes(value) : figure(value);
}

/** The number in a cell; NaN if there is none. */
export function numberIn(row: Row, at: number): number {
  const cell = row[at];
  return cell === null || cell === undefined || cell === "" ? NaN : Number(cell);
}

/** The properties of a span in a row, to find the span. */
export function hintsOf(answer: Answer, row: Row): PlaceQuery | null {
  const cell = (...names: string[]): string | undefined => row[columnOf(answer, names)] ?? undefined;
  const whole = (...names: string[]): number | undefined => {
    const text = cell(...names);
    return text === undefined || !Number.isFinite(Number(text)) ? undefined : Number(text);
  };
  const ts = whole(...TIMES);
  if (ts === undefined) return null;
  return {
    ts,
    trace_id: cell("trace_id"),
    thread_id: whole("thread_id"),
    id: whole("id"),
    name: cell("name"),
    dur: whole(...DURATIONS),
  };
}

/** A row on the timeline. */
export interface Mark {
  readonly ts: number;
  /** 0 for a point in time. */
  readonly dur: number;
  readonly label: string;
  readonly depth: number;
  readonly row: Row;
}

/** A result on the timeline: spans and points in rows, or values over time. */
export interface Track {
  readonly sql: string;
  readonly answer: Answer;
  readonly marks: readonly Mark[];
  /** Number of rows of marks. */
  readonly depth: number;
  /** The values over time, if rows have no duration and measure something. */
  readonly values: { readonly column: string; readonly points: readonly [ts: number, value: number][] } | null;
}

/** Max number of rows; further overlapping spans share the last row. */
const MAX_DEPTH = 8;

/** A result as a track; null if its rows have no time. */
export function trackOf(sql: string, answer: Answer): Track | null {
  const [time, dur, label] = [columnOf(answer, TIMES), columnOf(answer, DURATIONS), labelOf(answer)];
  if (time < 0 || !answer.columns[time]?.[1]) return null;
  const timed = answer.rows
    .map((row) => ({ row, ts: numberIn(row, time), dur: dur < 0 ? 0 : numberIn(row, dur) || 0 }))
    .filter(({ ts }) => Number.isFinite(ts))
    .sort((one, other) => one.ts - other.ts || other.dur - one.dur);
  const measure = measures(answer)[0];
  if (dur < 0 && measure !== undefined) {
    const points = timed.map(({ row, ts }): [number, number] => [ts, numberIn(row, measure)]);
    const column = answer.columns[measure]?.[0] ?? "";
    const known = points.filter(([, value]) => Number.isFinite(value));
    return { sql, answer, marks: [], depth: 0, values: { column, points: known } };
  }
  const ends: number[] = [];
  const marks = timed.map(({ row, ts, dur }): Mark => {
    const free = ends.findIndex((end) => end <= ts);
    const depth = free >= 0 ? free : Math.min(ends.length, MAX_DEPTH - 1);
    ends[depth] = Math.max(ends[depth] ?? -Infinity, ts + dur);
    return { ts, dur, depth, label: (label < 0 ? "" : row[label]) ?? "", row };
  });
  return { sql, answer, marks, depth: Math.max(1, ends.length), values: null };
}

/** Max number of names in a title. */
const MAX_NAMES = 3;

/** The title of a track: the column of its values, or the labels of its rows. */
export function titleOf({ sql, values, marks }: Track): string {
  const names = [...new Set(marks.slice(0, 1000).map(({ label }) => label))].filter((label) => label !== "");
  const more = names.length > MAX_NAMES ? ", …" : "";
  const listed = `${names.slice(0, MAX_NAMES).join(", ")}${more}`;
  return `SQL: ${values?.column ?? (listed === "" ? sql.replace(/\s+/g, " ").trim() : listed)}`;
}

/** A result as a chart: bars with labels, or a line over a number. */
export type Chart =
  | { readonly kind: "bars"; readonly label: number; readonly values: readonly number[] }
  | { readonly kind: "line"; readonly along: number; readonly values: readonly number[] };

/** The chart of a result; null if it has no numbers, or no labels or axis for them. */
export function chartOf(answer: Answer): Chart | null {
  const [time, label, values] = [columnOf(answer, TIMES), labelOf(answer), measures(answer)];
  if (time >= 0 && values.length > 0) return { kind: "line", along: time, values };
  if (label >= 0 && values.length > 0) return { kind: "bars", label, values };
  const [along, ...rest] = values;
  return along === undefined || rest.length === 0 ? null : { kind: "line", along, values: rest };
}
