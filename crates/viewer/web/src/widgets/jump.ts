// From a panel to the timeline, and from one panel to another.

import { ask, type Found } from "../api";
import { moment } from "../format";
import { rememberPanel, rememberPanelState } from "../link";
import { store } from "../store";

/** A time, as exact as it can be told apart in the whole of all traces. */
export function when(ts: number): string {
  const all = store.extent();
  return moment(ts, (all.to - all.from) / 10_000);
}

/** Brings a time into the middle of the view; what is selected stays. */
export function lookAt(ts: number, length = 0): void {
  const width = store.view.to - store.view.from;
  const wanted = Math.max(Math.min(width, store.extent().to - store.extent().from), length * 1.5);
  store.look(ts + length / 2 - wanted / 2, ts + length / 2 + wanted / 2);
}

/** What brings things into view. */
interface Shows {
  show(found: Found): Promise<void>;
  showCounter(number: number): void;
}

let timeline: Shows | null = null;

/** Says who brings things into view. */
export function showWith(shows: Shows): void {
  timeline = shows;
}

/** Selects a span and brings it into view. */
export async function showSpan(found: Found): Promise<void> {
  await timeline?.show(found);
}

/** Brings the values of a name into view; false where there are none. */
export function showCounter(trace: number, name: string): boolean {
  const number = store.state.counters.findIndex((counter) => counter.trace === trace && store.name(counter.name) === name);
  if (number >= 0) timeline?.showCounter(number);
  return number >= 0;
}

/** What a row may tell of the span that it means. */
export interface Hints {
  ts: number;
  trace_id?: string | undefined;
  thread_id?: string | number | undefined;
  id?: string | number | undefined;
  name?: string | undefined;
  dur?: number | undefined;
}

/** Shows the span that a row means, or else its time. */
export async function showRow(hints: Hints): Promise<void> {
  const found = await ask<Found | null>("place", { ...hints, ts: Math.round(hints.ts) }).catch(() => null);
  if (found) return showSpan(found);
  const length = hints.dur ?? 0;
  if (length > 0) store.select({ place: null, span: null, range: { from: hints.ts, to: hints.ts + length } });
  lookAt(hints.ts, length);
}

/** Selects all spans of a name; false where there are none. */
export function selectName(name: string): boolean {
  const number = store.names.indexOf(name);
  if (number >= 0) store.select({ name: number });
  return number >= 0;
}

/** The panel that was opened from another one, until it has the keys. */
let called: string | null = null;

/** Whether a panel was opened from another one: who came by keys goes on with them. Asked once. */
export function takesKeys(id: string): boolean {
  const isCalled = called === id;
  if (isCalled) called = null;
  return isCalled;
}

/** Opens another panel, with what it should show. */
export function openPanelWith(id: string, state?: unknown): void {
  called = id;
  if (state !== undefined) rememberPanelState(id, state);
  rememberPanel(id);
  store.tell("selection");
}
