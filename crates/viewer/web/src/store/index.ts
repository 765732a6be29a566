// The store of the page, and its actions.

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

/** Shows the first trace and the traces close to it; traces of other days would leave it no pixels. */
export function lookAtFirst(): void {
  const { from, to } = firstCluster(store.state);
  look(from, to);
}

/** Centers the view on a time; keeps the selection. */
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

/** Limits figures to a span: its time range on its track. */
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

/** Opens a panel from another part of the page, with a state to show; it gets the focus. */
export function callPanel<K extends PanelId>(
  panel: K,
  ...[link]: K extends keyof PanelLinks ? [link?: PanelLinks[K]] : []
): void {
  const links = link === undefined ? {} : { links: { ...store.state.links, [panel]: link } };
  store.set({ panel, called: { panel }, ...links });
}

/** Whether a panel was opened from another part of the page and should get the focus. Can be queried once. */
export function takesKeys(panel: PanelId): boolean {
  const isCalled = store.state.called?.panel === panel;
  if (isCalled) store.set({ called: null });
  return isCalled;
}

/** The saved state of a panel, from here or from a link; validate it before use. */
export function linkOf<K extends keyof PanelLinks>(id: K): Partial<Record<keyof PanelLinks[K], unknown>> | undefined {
  const link = store.state.links[id];
  return typeof link === "object" && link !== null ? link : undefined;
}

/** Saves the state of a panel. */
export function keepLink<K extends keyof PanelLinks>(id: K, link: PanelLinks[K]): void {
  store.set({ links: { ...store.state.links, [id]: link } });
}

/** Moves a trace on the axis; the page is updated by the server. */
export async function setOffset(trace: number, ns: number): Promise<void> {
  await send("offset", { trace, offset_ns: Math.round(ns) });
  store.set({ asked: store.state.asked + 1 });
}

/** Closes a trace; the page is updated by the server. */
export async function closeTrace(trace: number): Promise<void> {
  await send("close", { trace });
  store.set({ asked: store.state.asked + 1, selection: NOTHING });
}

/** Sets the names found by a search, or none. */
export function highlight(found: ReadonlySet<number> | null, searched: string): void {
  store.set({ found, searched });
}

/** Requests a span and selects it and its name, unless something else was selected meanwhile. */
export async function selectSpan(
  place: NonNullable<Selection["place"]>,
  name: number | null,
  ts: number | null,
): Promise<void> {
  select({ place, name, span: null, ts });
  const span = await ask("span", { ...place });
  if (store.state.selection.place === place) select({ span, name: span.name_id });
}

/** Requests an event and selects it. */
export async function selectEvent(track: number, id: number, ts: number, name: number | null): Promise<void> {
  select({ place: null, span: null, name });
  const asked = store.state.selection;
  const event = await ask("event", { track, id, ts });
  if (store.state.selection === asked) select({ event, name: event.name_id });
}

/** The visible range. */
export function viewWidth({ from, to }: Range = store.state.view): number {
  return to - from;
}
