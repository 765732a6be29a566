// A trace of a store in words.

import { count, wallClock } from "../../format";
import { StoredRow } from "../../wire";

/** When a trace starts, in UTC; nothing if that is not known. */
export function startOf(row: StoredRow): string {
  const start = row[StoredRow.start_unix_ns];
  return start === null ? "" : wallClock(start, 0);
}

/** What a trace holds. */
export function entries(row: StoredRow): string {
  const parts = [
    several(row[StoredRow.spans], "span"),
    several(row[StoredRow.lines], "line"),
    several(row[StoredRow.allocations], "allocation"),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** How many problems a trace has. */
export function problems(row: StoredRow): string {
  if (row[StoredRow.finding] !== null) return "quarantined";
  const parts = [several(row[StoredRow.errors], "error"), several(row[StoredRow.warnings], "warning")];
  return parts.filter((part) => part !== "").join(", ");
}

function several(number: number, what: string): string {
  return number === 0 ? "" : `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}
