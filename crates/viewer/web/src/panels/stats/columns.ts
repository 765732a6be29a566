// The lists of statistics, and what their columns are.

import { count, duration, figure } from "../format";
import { store } from "../store";
import { paint, paintText } from "../theme";
import type { Column } from "./panel";

export type SpanRow = [
  name: string,
  thread: string | null,
  tid: number | null,
  file: string | null,
  category: string | null,
  calls: number,
  unclosed: number,
  total: number,
  self: number,
  min: number,
  mean: number,
  p50: number | null,
  p95: number | null,
  p99: number | null,
  max: number,
  share: number | null,
  isExact: boolean,
];
export type FunctionRow = [name: string, calls: number, total: number, self: number, mean: number, share: number];
export type ValueRow = [name: string, count: number, min: number | null, mean: number | null, p50: number | null, p95: number | null, p99: number | null, max: number | null, first: number | null, last: number | null, isExact: boolean];
export type EventRow = [name: string, category: string, thread: string | null, tid: number | null, count: number];
export type ThreadRow = [name: string, tid: number | null, trace: number | null, spans: number, busy: number, switches: number, offCpu: number];

interface Listed<T> {
  all: number;
  rows: T[];
}

export interface Stats {
  loading: boolean;
  self_ns: number;
  merged: number;
  unclosed: number;
  spans: Listed<SpanRow>;
  functions: Listed<FunctionRow>;
  values: Listed<ValueRow>;
  events: Listed<EventRow>;
  threads: ThreadRow[];
}

export type Grouping = "name" | "thread" | "file" | "category";

let numbers = new Map<string, number>();
let known = 0;

/** The number of a name of the timeline. */
export function nameNumber(name: string): number | undefined {
  if (store.names.length < known) [numbers, known] = [new Map(), 0];
  for (; known < store.names.length; known++) numbers.set(store.names[known] ?? "", known);
  return numbers.get(name);
}

/** The colour of a name wherever it is shown. */
export function colorOf(name: string): string {
  const number = nameNumber(name);
  return (number === undefined ? paintText(name) : paint(number)).css;
}

function time<T>(title: string, hint: string, of: (row: T) => number | null, mark: (row: T) => string = () => ""): Column<T> {
  return {
    title,
    hint,
    csv: `${title.toLowerCase()}_ns`,
    text: (row) => (of(row) === null ? "" : mark(row) + duration(of(row))),
    value: (row) => of(row) ?? NaN,
  };
}

function whole<T>(title: string, hint: string, of: (row: T) => number | null): Column<T> {
  return { title, hint, text: (row) => (of(row) === null ? "" : count(of(row) ?? 0)), value: (row) => of(row) ?? NaN };
}

function plain<T>(title: string, hint: string, of: (row: T) => number | null): Column<T> {
  return { title, hint, text: (row) => (of(row) === null ? "" : figure(of(row) ?? 0)), value: (row) => of(row) ?? NaN };
}

function part<T>(hint: string, of: (row: T) => number | null): Column<T> {
  return {
    title: "Share",
    hint,
    text: (row) => (of(row) === null ? "" : `${(100 * (of(row) ?? 0)).toFixed(1)} %`),
    value: (row) => of(row) ?? NaN,
    bar: (row) => of(row) ?? 0,
  };
}

const roughly = (row: SpanRow): string => (row[16] ? "" : "~");

/** Columns of spans; what tells groups apart stands beside the name. */
export function spanColumns(by: Grouping, rows: SpanRow[]): Column<SpanRow>[] {
  const apart: Column<SpanRow>[] = [];
  if (by === "thread") apart.push({ title: "Thread", text: (row) => row[1] ?? "" });
  if (by === "file") apart.push({ title: "File", text: (row) => row[3] ?? "" });
  if (by === "category" || rows.some((row) => row[4] !== null)) apart.push({ title: "Kind", text: (row) => row[4] ?? "" });
  return [
    { title: "Name", text: (row) => row[0], color: (row) => colorOf(row[0]) },
    ...apart,
    whole("Calls", "Spans that were closed", (row) => row[5]),
    time("Total", "Time with what lies inside", (row) => row[7]),
    time("Self", "Time without what lies inside", (row) => row[8]),
    part("Self time as a part of that of all", (row) => row[15]),
    time("Min", "The shortest", (row) => row[9]),
    time("Mean", "Total by calls", (row) => row[10]),
    time("p50", "Half of them are not longer", (row) => row[11], roughly),
    time("p95", "95 of 100 are not longer", (row) => row[12], roughly),
    time("p99", "99 of 100 are not longer", (row) => row[13], roughly),
    time("Max", "The longest", (row) => row[14]),
  ];
}

export const functionColumns: Column<FunctionRow>[] = [
  { title: "Name", text: (row) => row[0], color: (row) => colorOf(row[0]) },
  whole("Calls", "As the profiler counted them", (row) => row[1]),
  time("Total", "Time with what it called", (row) => row[2]),
  time("Self", "Time without", (row) => row[3]),
  part("Self time as a part of that of all", (row) => row[5]),
  time("Mean", "Total by calls", (row) => row[4]),
];

export const valueColumns: Column<ValueRow>[] = [
  { title: "Name", text: (row) => row[0], color: (row) => colorOf(row[0]) },
  whole("Count", "How many", (row) => row[1]),
  plain("Min", "The least", (row) => row[2]),
  plain("Mean", "The mean", (row) => row[3]),
  plain("p50", "Half of them are not greater", (row) => row[4]),
  plain("p95", "95 of 100 are not greater", (row) => row[5]),
  plain("p99", "99 of 100 are not greater", (row) => row[6]),
  plain("Max", "The greatest", (row) => row[7]),
  plain("First", "The earliest", (row) => row[8]),
  plain("Last", "The latest", (row) => row[9]),
];

export function eventColumns(rows: EventRow[]): Column<EventRow>[] {
  const thread: Column<EventRow> = { title: "Thread", text: (row) => row[2] ?? "" };
  return [
    { title: "Name", text: (row) => row[0], color: (row) => colorOf(row[0]) },
    { title: "Kind", text: (row) => row[1] },
    ...(rows.some((row) => row[2] !== null) ? [thread] : []),
    whole("Count", "How many", (row) => row[4]),
  ];
}

export function threadColumns(rows: ThreadRow[]): Column<ThreadRow>[] {
  const trace: Column<ThreadRow> = {
    title: "Trace",
    text: (row) => store.state.traces[row[2] ?? -1]?.path.split("/").pop() ?? "",
  };
  const busiest = Math.max(1, ...rows.slice(0, 1).map((row) => row[4]));
  const isSwitched = rows.some((row) => row[5] > 0);
  return [
    { title: "Thread", text: (row) => row[0] },
    { title: "Tid", text: (row) => (row[1] === null ? "" : String(row[1])), value: (row) => row[1] ?? NaN },
    ...(store.state.traces.length > 1 ? [trace] : []),
    whole("Spans", "Spans on it", (row) => row[3]),
    { ...time<ThreadRow>("Busy", "Time inside of spans", (row) => row[4]), bar: (row) => row[4] / busiest },
    ...(isSwitched
      ? [whole<ThreadRow>("Switches", "How often it was taken off the processor", (row) => row[5]), time<ThreadRow>("Off CPU", "How long it was off", (row) => row[6])]
      : []),
  ];
}
