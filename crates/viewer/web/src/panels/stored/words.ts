// Texts about a trace of a store.

import { count, wallClock } from "../../format";
import { StoredRow } from "../../wire";

/** The start of a trace in UTC; empty if unknown. */
export function startOf(row: StoredRow): string {
  const start = row[StoredRow.start_unix_ns];
  return start === null ? "" : wallClock(start, 0);
}

/** The contents of a trace. */
export function entries(row: StoredRow): string {
  const parts = [
    several(row[StoredRow.spans], "span"),
    several(row[StoredRow.lines], "line"),
    several(row[StoredRow.allocations], "allocation"),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The number of problems of a trace. */
export function problems(row: StoredRow): string {
  if (row[StoredRow.finding] !== null) return "quarantined";
  const parts = [several(row[StoredRow.errors], "error"), several(row[StoredRow.warnings], "warning")];
  return parts.filter((part) => part !== "").join(", ");
}

function several(number: number, what: string): string {
  return number === 0 ? "" : `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}
