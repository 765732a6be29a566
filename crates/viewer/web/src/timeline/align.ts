// Aligns traces at corresponding spans or events.

import { ask } from "../api";
import { count } from "../format";
import { complain, toast } from "../header";
import { setOffset, store } from "../store";
import { openTraces, selectedAt, type PageState } from "../store/state";
import type { Counterparts } from "../wire";
import { traceLabel } from "./names";

/** The start of a span or an event, in the time of its trace. */
export interface Anchor {
  readonly trace: number;
  readonly track: number;
  readonly ts: number;
  readonly name: string;
}

/** The start of the selection. */
export function anchorOf({ selection, server, names }: PageState): Anchor | null {
  const { span, event, place, name } = selection;
  const track = (span ?? event ?? place)?.track;
  const [ts, trace] = [selectedAt(selection), track === undefined ? undefined : server.tracks[track]?.trace];
  if (track === undefined || trace === undefined || ts === null || name === null) return null;
  const offset = server.traces[trace]?.offset_ns ?? 0;
  return { trace, track, ts: ts - offset, name: names.text(name) };
}

/** The time of an anchor on the axis. */
export function anchorTime({ server }: PageState, { trace, ts }: Anchor): number {
  return ts + (server.traces[trace]?.offset_ns ?? 0);
}

/** The offset that aligns an anchor of one trace with an anchor of another. */
export function meeting(state: PageState, moved: Anchor, fixed: Anchor): number {
  return anchorTime(state, fixed) - moved.ts;
}

/** The outcome for the other traces, in one sentence per case. */
export function aligned(state: PageState, name: string, { number, traces }: Counterparts): string {
  const labels = (isFound: boolean): string[] =>
    traces
      .filter(({ ts_ns }) => (ts_ns !== null) === isFound)
      .map(({ trace, count: has }) => `${traceLabel(state, trace)}${isFound ? "" : ` (${count(has)})`}`);
  const [found, short] = [labels(true), labels(false)];
  const parts: string[] = [];
  if (found.length > 0)
    parts.push(`Moved ${found.join(", ")}: ${name} number ${count(number)} starts here. u undoes it.`);
  if (short.length > 0) parts.push(`Fewer than ${count(number)} of ${name}: ${short.join(", ")}.`);
  return parts.join(" ");
}

const NOTHING_SELECTED = "Select a span or an event to align traces at.";

/** Moves all other traces so that their span or event of the same name and number starts with the selected one. */
export function alignOthers(): void {
  moveOthers().catch(complain);
}

async function moveOthers(): Promise<void> {
  const { state } = store;
  const [anchor, { name, event }] = [anchorOf(state), state.selection];
  if (openTraces(state).length < 2) return toast("Only one trace is open: nothing else to align.");
  if (!anchor || name === null) return toast(NOTHING_SELECTED);
  const ts = Math.round(anchorTime(state, anchor));
  const answer = await ask("counterparts", { track: anchor.track, name, ts, is_event: event !== null });
  const moves = answer.traces.filter(({ ts_ns }) => ts_ns !== null);
  await Promise.all(moves.map(({ trace, ts_ns }) => setOffset(trace, ts - (ts_ns ?? 0))));
  toast(aligned(store.state, anchor.name, answer));
}

/** Holds the selection; if something of another trace is held, aligns this trace with it. */
export function holdOrMeet(): void {
  const { state } = store;
  const [chosen, held] = [anchorOf(state), state.held];
  if (!chosen) toast(NOTHING_SELECTED);
  else if (held && held.trace !== chosen.trace) meet(chosen, held).catch(complain);
  else {
    store.set({ held: chosen });
    toast(`Held ${chosen.name}. Select a span or an event of another trace and press O to align them.`);
  }
}

async function meet(chosen: Anchor, held: Anchor): Promise<void> {
  const { state } = store;
  await setOffset(chosen.trace, meeting(state, chosen, held));
  store.set({ held: null });
  toast(`Moved ${traceLabel(state, chosen.trace)}: ${chosen.name} starts with ${held.name}. u undoes it.`);
}
