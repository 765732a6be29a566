// Jumps from a row of a panel to the timeline.

import { ask } from "../api";
import { moment } from "../format";
import { lookAt, reveal, select, store } from "../store";
import { extent } from "../store/state";
import type { Found, PlaceQuery } from "../wire";

/** A time, with a precision suitable for the extent of all traces. */
export function when(ts: number): string {
  const all = extent(store.state);
  return moment(ts, (all.to - all.from) / 10_000);
}

/** Selects a span and brings it into view. */
export function showSpan(found: Found): void {
  reveal({ kind: "found", found });
}

/** Scrolls to the values of a name; returns false if there are none. */
export function showCounter(trace: number, name: string): boolean {
  const { server, names } = store.state;
  const isOwn = (counter: { trace: number; name: number }): boolean =>
    counter.trace === trace && names.text(counter.name) === name;
  const number = server.counters.findIndex(isOwn);
  if (number >= 0) reveal({ kind: "counter", number });
  return number >= 0;
}

/** Shows the span of a row, or else its time. */
export async function showRow(hints: PlaceQuery): Promise<void> {
  const found = await ask("place", { ...hints, ts: Math.round(hints.ts) }).catch(() => null);
  if (found) return showSpan(found);
  const length = hints.dur ?? 0;
  if (length > 0) select({ place: null, span: null, range: { from: hints.ts, to: hints.ts + length } });
  lookAt(hints.ts, length);
}
