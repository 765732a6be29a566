// The one store of the page, and what can be done to it.

import { ask, send } from "../api";
import type { SpanDetails } from "../wire";
import type { PanelId, PanelLinks } from "./panels";
import {
  extent,
  firstCluster,
  initial,
  NOTHING,
  selected,
  within,
  type PageState,
  type Range,
  type Reveal,
  type Selection,
  type Tracks,
} from "./state";
import { Store } from "./store";

export type { PanelId, PanelLinks } from "./panels";
export { NOTHING, type PageState, type Place, type Range, type Selection } from "./state";

export const store = new Store<PageState>(initial());

/** Moves the view. */
export function look(from: number, to: number): void {
  if (!Number.isFinite(from) || !Number.isFinite(to)) return;
  store.set({ view: within(extent(store.state), { from, to }) });
}

/** Shows the whole axis. */
export function lookAtAll(): void {
  const all = extent(store.state);
  look(all.from, all.to);
}

/** Shows the first trace and those that are not far from it: traces of other days would leave it no pixel. */
export function lookAtFirst(): void {
  const { from, to } = firstCluster(store.state);
  look(from, to);
}

/** Brings a time into the middle of the view; the selection stays. */
export function lookAt(ts: number, length = 0): void {
  const { view } = store.state;
  const all = extent(store.state);
  const wanted = Math.max(Math.min(view.to - view.from, all.to - all.from), length * 1.5);
  look(ts + length / 2 - wanted / 2, ts + length / 2 + wanted / 2);
}

export function select(change: Partial<Selection>): void {
  store.set({ selection: selected(store.state.selection, change) });
}

/** Selects all spans of a name; false if there are none. */
export function selectName(name: string): boolean {
  const number = store.state.names.number(name);
  if (number !== undefined) select({ name: number });
  return number !== undefined;
}

/** Lets figures be about a span: its time, on its track. */
export function selectInside({ ts_ns, dur_ns, track }: Pick<SpanDetails, "ts_ns" | "dur_ns" | "track">): void {
  select({ range: { from: ts_ns, to: ts_ns + (dur_ns ?? 0) }, tracks: [track] });
}

/** Changes how tracks are shown. */
export function arrange(change: Partial<Tracks>): void {
  store.set({ tracks: { ...store.state.tracks, ...change } });
}

/** Asks the timeline to bring something into view. */
export function reveal(what: Reveal): void {
  store.set({ reveal: what });
}

/** Opens a panel. */
export function openPanel(panel: PanelId): void {
  store.set({ panel });
}

/** Opens a panel from elsewhere, with what it should show; it takes the keys. */
export function callPanel<K extends PanelId>(
  panel: K,
  ...[link]: K extends keyof PanelLinks ? [link?: PanelLinks[K]] : []
): void {
  const links = link === undefined ? {} : { links: { ...store.state.links, [panel]: link } };
  store.set({ panel, called: { panel }, ...links });
}

/** Whether a panel was opened from elsewhere, so that whoever came by keys goes on with them. Asked once. */
export function takesKeys(panel: PanelId): boolean {
  const isCalled = store.state.called?.panel === panel;
  if (isCalled) store.set({ called: null });
  return isCalled;
}

/** What a panel kept, here or in the link that was opened: look before you use it. */
export function linkOf<K extends keyof PanelLinks>(id: K): Partial<Record<keyof PanelLinks[K], unknown>> | undefined {
  const link = store.state.links[id];
  return typeof link === "object" && link !== null ? link : undefined;
}

/** Keeps what a panel needs to show the same again. */
export function keepLink<K extends keyof PanelLinks>(id: K, link: PanelLinks[K]): void {
  store.set({ links: { ...store.state.links, [id]: link } });
}

/** Moves a trace on the axis; the page follows when the server says so. */
export async function setOffset(trace: number, ns: number): Promise<void> {
  await send("offset", { trace, offset_ns: Math.round(ns) });
  store.set({ asked: store.state.asked + 1 });
}

/** Closes a trace; the page follows when the server says so. */
export async function closeTrace(trace: number): Promise<void> {
  await send("close", { trace });
  store.set({ asked: store.state.asked + 1, selection: NOTHING });
}

/** Names that were searched for, or none. */
export function highlight(found: ReadonlySet<number> | null, searched: string): void {
  store.set({ found, searched });
}

/** Asks for a span and selects it, with all of its name; nothing if something else was selected meanwhile. */
export async function selectSpan(
  place: NonNullable<Selection["place"]>,
  name: number | null,
  ts: number | null,
): Promise<void> {
  select({ place, name, span: null, ts });
  const span = await ask("span", { ...place });
  if (store.state.selection.place === place) select({ span, name: span.name_id });
}

/** Asks for an event and selects it. */
export async function selectEvent(track: number, id: number, ts: number, name: number | null): Promise<void> {
  select({ place: null, span: null, name });
  const asked = store.state.selection;
  const event = await ask("event", { track, id, ts });
  if (store.state.selection === asked) select({ event, name: event.name_id });
}

/** The range that is in view. */
export function viewWidth({ from, to }: Range = store.state.view): number {
  return to - from;
}
