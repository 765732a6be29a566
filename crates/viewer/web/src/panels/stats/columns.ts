// The columns of the lists of statistics.

import { count, duration, figure } from "../../format";
import { store } from "../../store";
import { baseName } from "../../store/state";
import { paintText } from "../../theme";
import type { Column } from "../../widgets/table";
import { EventRow, FunctionRow, SpanRow, ThreadRow, ValueRow, type Grouping } from "../../wire";

function time<T>(
  title: string,
  hint: string,
  of: (row: T) => number | null,
  mark: (row: T) => string = () => "",
): Column<T> {
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

const roughly = (row: SpanRow): string => (row[SpanRow.is_exact] ? "" : "~");

/** Columns of spans; the grouping key is next to the name. */
export function spanColumns(by: Grouping, rows: SpanRow[]): Column<SpanRow>[] {
  const apart: Column<SpanRow>[] = [];
  if (by === "thread") apart.push({ title: "Thread", text: (row) => row[SpanRow.thread] ?? "" });
  if (by === "file") apart.push({ title: "File", text: (row) => row[SpanRow.file] ?? "" });
  if (by === "category" || rows.some((row) => row[SpanRow.category] !== null))
    apart.push({ title: "Kind", text: (row) => row[SpanRow.category] ?? "" });
  return [
    { title: "Name", text: (row) => row[SpanRow.name], color: (row) => paintText(row[SpanRow.name]).css },
    ...apart,
    whole("Calls", "Number of closed spans", (row) => row[SpanRow.calls]),
    time("Total", "Time including children", (row) => row[SpanRow.total_ns]),
    time("Self", "Time without children", (row) => row[SpanRow.self_ns]),
    part("Share of all self time", (row) => row[SpanRow.share]),
    time("Min", "Shortest duration", (row) => row[SpanRow.min_ns]),
    time("Mean", "Total time per call", (row) => row[SpanRow.mean_ns]),
    time("p50", "Median", (row) => row[SpanRow.p50_ns], roughly),
    time("p95", "95th percentile", (row) => row[SpanRow.p95_ns], roughly),
    time("p99", "99th percentile", (row) => row[SpanRow.p99_ns], roughly),
    time("Max", "Longest duration", (row) => row[SpanRow.max_ns]),
  ];
}

export const functionColumns: Column<FunctionRow>[] = [
  { title: "Name", text: (row) => row[FunctionRow.name], color: (row) => paintText(row[FunctionRow.name]).css },
  whole("Calls", "Number of calls, from the profiler", (row) => row[FunctionRow.calls]),
  time("Total", "Time including callees", (row) => row[FunctionRow.total_ns]),
  time("Self", "Time without callees", (row) => row[FunctionRow.self_ns]),
  part("Share of all self time", (row) => row[FunctionRow.share]),
  time("Mean", "Total time per call", (row) => row[FunctionRow.mean_ns]),
];

export const valueColumns: Column<ValueRow>[] = [
  { title: "Name", text: (row) => row[ValueRow.name], color: (row) => paintText(row[ValueRow.name]).css },
  whole("Count", "Number of values", (row) => row[ValueRow.count]),
  plain("Min", "Smallest value", (row) => row[ValueRow.min]),
  plain("Mean", "Mean value", (row) => row[ValueRow.mean]),
  plain("p50", "Median", (row) => row[ValueRow.p50]),
  plain("p95", "95th percentile", (row) => row[ValueRow.p95]),
  plain("p99", "99th percentile", (row) => row[ValueRow.p99]),
  plain("Max", "Largest value", (row) => row[ValueRow.max]),
  plain("First", "First value", (row) => row[ValueRow.first]),
  plain("Last", "Last value", (row) => row[ValueRow.last]),
];

export function eventColumns(rows: EventRow[]): Column<EventRow>[] {
  const thread: Column<EventRow> = { title: "Thread", text: (row) => row[EventRow.thread] ?? "" };
  return [
    { title: "Name", text: (row) => row[EventRow.name], color: (row) => paintText(row[EventRow.name]).css },
    { title: "Kind", text: (row) => row[EventRow.category] },
    ...(rows.some((row) => row[EventRow.thread] !== null) ? [thread] : []),
    whole("Count", "Number of events", (row) => row[EventRow.count]),
  ];
}

export function threadColumns(rows: ThreadRow[]): Column<ThreadRow>[] {
  const trace: Column<ThreadRow> = {
    title: "Trace",
    text: (row) => baseName(store.state.server.traces[row[ThreadRow.trace] ?? -1]?.path ?? ""),
  };
  const busiest = Math.max(1, ...rows.slice(0, 1).map((row) => row[ThreadRow.busy_ns]));
  const isSwitched = rows.some((row) => row[ThreadRow.switches] > 0);
  return [
    { title: "Thread", text: (row) => row[ThreadRow.name] },
    {
      title: "Tid",
      text: (row) => (row[ThreadRow.tid] === null ? "" : String(row[ThreadRow.tid])),
      value: (row) => row[ThreadRow.tid] ?? NaN,
    },
    ...(store.state.server.traces.length > 1 ? [trace] : []),
    whole("Spans", "Number of spans on this thread", (row) => row[ThreadRow.spans]),
    {
      ...time<ThreadRow>("Busy", "Time inside spans", (row) => row[ThreadRow.busy_ns]),
      bar: (row) => row[ThreadRow.busy_ns] / busiest,
    },
    ...(isSwitched
      ? [
          whole<ThreadRow>("Switches", "Number of switches off the CPU", (row) => row[ThreadRow.switches]),
          time<ThreadRow>("Off CPU", "Time off the CPU", (row) => row[ThreadRow.off_cpu_ns]),
        ]
      : []),
  ];
}
