import { describe, expect, it } from "vitest";
import { store } from "../../store";
import { page, trace } from "../../testing/page";
import type { Column } from "../../widgets/table";
import { EventRow, SpanRow, ThreadRow } from "../../wire";
import { eventColumns, spanColumns, threadColumns } from "./columns";

/** A row with values in these columns, and null in the others. */
function row(values: [column: number, value: unknown][]): unknown[] {
  const cells: unknown[] = Array.from({ length: 20 }, () => null);
  for (const [column, value] of values) cells[column] = value;
  return cells;
}

const titles = <T>(columns: Column<T>[]): string[] => columns.map(({ title }) => title);

describe("spanColumns", () => {
  const span = row([
    [SpanRow.name, "Draw"],
    [SpanRow.p95_ns, 2_000_000],
    [SpanRow.is_exact, false],
  ]) as SpanRow;

  it("has the key of the grouping next to the name", () => {
    expect(titles(spanColumns("thread", [span])).slice(0, 3)).toEqual(["Name", "Thread", "Calls"]);
    expect(titles(spanColumns("file", [span])).slice(0, 3)).toEqual(["Name", "File", "Calls"]);
  });

  it("marks estimates, leaves unknown numbers empty and sorts them last", () => {
    const columns = spanColumns("thread", [span]);
    const of = (title: string): Column<SpanRow> | undefined => columns.find((column) => column.title === title);
    expect(of("p95")?.text(span)).toBe("~2 ms");
    expect(of("Mean")?.text(span)).toBe("");
    expect(of("Mean")?.value?.(span)).toBeNaN();
  });
});

it("shows the threads of events only if there are any", () => {
  const event = (thread: string | null): EventRow =>
    row([
      [EventRow.name, "click"],
      [EventRow.thread, thread],
    ]) as EventRow;
  expect(titles(eventColumns([event(null)]))).not.toContain("Thread");
  expect(titles(eventColumns([event("Main")]))).toContain("Thread");
});

it("shows the trace of a thread if there are several, and switches if there are any", () => {
  const thread = (switches: number): ThreadRow =>
    row([
      [ThreadRow.busy_ns, 10],
      [ThreadRow.switches, switches],
    ]) as ThreadRow;
  store.set(page());
  expect(titles(threadColumns([thread(0)]))).toEqual(["Thread", "Tid", "Spans", "Busy"]);
  store.set(page({ traces: [trace(), trace()] }));
  expect(titles(threadColumns([thread(3)]))).toEqual([
    "Thread",
    "Tid",
    "Trace",
    "Spans",
    "Busy",
    "Switches",
    "Off CPU",
  ]);
});
