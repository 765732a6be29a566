// The view in the address, so that a link reopens it.

import { ask, EVENT, send, type EventDetails, type Place, type SpanDetails } from "./api";
import { store } from "./store";

interface Linked {
  from: number;
  to: number;
  name: string | null;
  panel: string;
  range: [number, number] | null;
  tracks: number[] | null;
  /** The span or the event that is selected; `ts` is for an event. */
  place: (Place & { ts?: number }) | null;
  folded: number[];
  groups: string[];
  hidden: number[];
  pinned: number[];
  order: number[];
  scroll: number;
  /** How high the panels are. */
  height: number | null;
  /** How far each trace is moved on the axis. */
  offsets: number[];
  /** What each panel wants to find again, by its id. */
  panels: Record<string, unknown>;
}

let panel = "selection";
let panels: Record<string, unknown> = { ...linked()?.panels };
/** Not before the view of the link is there: it would be written over. */
let isLive = false;

/** The panel that is open. */
export function openPanel(): string {
  return panel;
}

export function rememberPanel(id: string): void {
  panel = id;
  remember();
}

/** What a panel remembered, here or in the link that was opened; a link may hold anything, so look before you use it. */
export function panelState<T>(id: string): T | undefined {
  return panels[id] as T | undefined;
}

/** Keeps what a panel needs to show the same again. */
export function rememberPanelState(id: string, value: unknown): void {
  panels = { ...panels, [id]: value };
  remember();
}

let waiting = 0;

/** Writes the view into the address, not more often than needed. */
export function remember(): void {
  if (!isLive) return;
  clearTimeout(waiting);
  waiting = window.setTimeout(() => {
    const { name, range, tracks, place, event } = store.selection;
    const selected = event ? { track: event.track, kind: EVENT, depth: 0, index: event.id, ts: event.ts_ns } : place;
    const linked: Linked = {
      from: Math.round(store.view.from),
      to: Math.round(store.view.to),
      name: name === null ? null : store.name(name),
      panel,
      range: range ? [Math.round(range.from), Math.round(range.to)] : null,
      tracks,
      place: selected,
      folded: [...store.folded],
      groups: [...store.foldedGroups],
      hidden: [...store.hidden],
      pinned: [...store.pinned],
      order: store.order,
      scroll: Math.round(store.scroll),
      height: store.panelHeight,
      offsets: store.state.traces.map((trace) => trace.offset_ns),
      panels,
    };
    history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(linked))}`);
  }, 150);
}

/** The view that the address asks for. */
export function linked(): Linked | null {
  try {
    const value: unknown = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    return isLinked(value) ? value : null;
  } catch {
    return null;
  }
}

function isLinked(value: unknown): value is Linked {
  const link = value as Linked | null;
  return isNumber(link?.from) && isNumber(link.to) && link.to > link.from;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** The numbers of a list; a link may hold anything. */
function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter(isNumber) : [];
}

/** Moves traces to where the link has them; whether any had to be moved. */
export async function restoreOffsets(): Promise<boolean> {
  const offsets = numbers(linked()?.offsets);
  const wrong = store.state.traces.map((trace, at) => [at, offsets[at] ?? trace.offset_ns, trace.offset_ns] as const).filter(([, wanted, is]) => wanted !== is);
  await Promise.all(wrong.map(([trace, ns]) => send("offset", { trace, offset_ns: BigInt(Math.round(ns)).toString() })));
  return wrong.length > 0;
}

/** Opens what the address asks for, when names and tracks are known; whether it asks for anything. */
export function restore(): boolean {
  isLive = true;
  const link = linked();
  if (!link) return false;
  store.folded = new Set(numbers(link.folded));
  store.foldedGroups = new Set(Array.isArray(link.groups) ? link.groups.map(String) : []);
  store.hidden = new Set(numbers(link.hidden));
  store.pinned = new Set(numbers(link.pinned));
  store.order = numbers(link.order);
  store.scroll = isNumber(link.scroll) ? link.scroll : 0;
  store.panelHeight = isNumber(link.height) ? link.height : null;
  store.tell("size");
  if (typeof link.panel === "string") panel = link.panel;
  const name = typeof link.name === "string" ? store.names.indexOf(link.name) : -1;
  const [from, to] = numbers(link.range);
  const range = from !== undefined && to !== undefined && from <= to ? { from, to } : null;
  const tracks = Array.isArray(link.tracks) ? numbers(link.tracks) : null;
  store.select({ name: name < 0 ? null : name, range, tracks });
  store.tell("tracks");
  store.look(link.from, link.to);
  void reselect(link.place);
  return true;
}

/** Selects the span or the event of a link; one that is not there is none. */
async function reselect(place: Linked["place"]): Promise<void> {
  if (!place || ![place.track, place.kind, place.depth, place.index].every(isNumber)) return;
  const { track, kind, depth, index } = place;
  try {
    if (kind === EVENT) {
      const event = await ask<EventDetails>("event", { track, id: index, ts: place.ts });
      store.select({ event, name: event.name_id });
      return;
    }
    const span = await ask<SpanDetails>("span", { track, kind, depth, index });
    store.select({ place: { track, kind, depth, index }, span, name: span.name_id });
  } catch {
    // The link is of another trace.
  }
}
