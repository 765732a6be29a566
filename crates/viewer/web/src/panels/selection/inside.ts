// The contents of a range besides spans: log lines, values, memory, events, switches.

import { bytes, count, duration } from "../../format";
import type { Totals } from "../../wire";

/** Terms with their amounts; terms without any are omitted. */
export function insides(totals: Totals): [string, string][] {
  const rows: [string, string][] = [];
  if (totals.switches > 0)
    rows.push(["off CPU", `${duration(totals.off_cpu_ns)} in ${count(totals.switches)} switches`]);
  for (const [level, lines, , text] of totals.logs) rows.push([`log ${level}`, `${count(lines)}: ${text}`]);
  const { memory } = totals;
  if (memory && memory.allocations > 0)
    rows.push(["allocated", `${bytes(memory.allocated_bytes)} in ${count(memory.allocations)} allocations`]);
  if (memory && memory.frees > 0) rows.push(["freed", `${bytes(memory.freed_bytes)} in ${count(memory.frees)} frees`]);
  for (const [name, number] of totals.event_names)
    rows.push([name, `${count(number)} ${number === 1 ? "event" : "events"}`]);
  for (const [name, number, min, mean, max] of totals.values) {
    const range = min === max ? shown(min) : `${shown(min)} to ${shown(max)}, mean ${shown(mean)}`;
    rows.push([name, number === 0 ? "" : `${range} (${count(number)} ${number === 1 ? "value" : "values"})`]);
  }
  return rows;
}

function shown(value: number | null): string {
  return value === null ? "" : String(Number(value.toPrecision(6)));
}
