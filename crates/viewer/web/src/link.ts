// Saves the page as a link and restores it. A link is untrusted and may contain anything.

import { EVENT } from "./api";
import type { PanelId } from "./store/panels";
import { TRACK_SORTS, type PageState, type Place, type Range } from "./store/state";

export interface Linked {
  from: number;
  to: number;
  name: string | null;
  panel: string;
  range: [number, number] | null;
  tracks: readonly number[] | null;
  /** The selected span or event; `ts` is for an event. */
  place: (Place & { ts?: number }) | null;
  folded: number[];
  groups: string[];
  hidden: number[];
  pinned: number[];
  order: readonly number[];
  filter: string;
  sort: string;
  isCompact: boolean;
  scroll: number;
  /** Height of the panels. */
  height: number | null;
  /** Offset of each trace on the axis. */
  offsets: number[];
  /** The saved state of each panel, by its id. */
  panels: Readonly<Record<string, unknown>>;
}

/** The part of the page state that a link saves. */
export function linkTo(state: PageState): Linked {
  const { server, names, view, selection, tracks } = state;
  const { name, range, place, event } = selection;
  const selected = event ? { track: event.track, kind: EVENT, depth: 0, index: event.id, ts: event.ts_ns } : place;
  return {
    from: Math.round(view.from),
    to: Math.round(view.to),
    name: name === null ? null : names.text(name),
    panel: state.panel,
    range: range ? [Math.round(range.from), Math.round(range.to)] : null,
    tracks: selection.tracks,
    place: selected,
    folded: [...tracks.folded],
    groups: [...tracks.groups],
    hidden: [...tracks.hidden],
    pinned: [...tracks.pinned],
    order: tracks.order,
    filter: tracks.filter,
    sort: tracks.sort,
    isCompact: tracks.isCompact,
    scroll: Math.round(state.scroll),
    height: state.panelHeight,
    offsets: server.traces.map((trace) => trace.offset_ns),
    panels: state.links,
  };
}

/** The link as a URL fragment. */
export function written(link: Linked): string {
  return `#${encodeURIComponent(JSON.stringify(link))}`;
}

/** The link in a fragment, if it is one of ours. */
export function parsed(fragment: string): Linked | null {
  try {
    const value: unknown = JSON.parse(decodeURIComponent(fragment.slice(1)));
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

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter(isNumber) : [];
}

/** The panel states of a link. */
export function panelsOf(link: Linked | null): Record<string, unknown> {
  const panels: unknown = link?.panels;
  return typeof panels === "object" && panels !== null ? { ...panels } : {};
}

/** The offsets of a link that differ from the current ones, by the number of the trace. */
export function wrongOffsets(link: Linked | null, { server }: PageState): { trace: number; ns: number }[] {
  const offsets = numbers(link?.offsets);
  const wanted = server.traces.map((info, trace) => ({ trace, ns: offsets[trace] ?? info.offset_ns }));
  return wanted.filter(({ trace, ns }) => ns !== server.traces[trace]?.offset_ns);
}

/** The page state of a link, when names and tracks are known; the view is set afterwards. */
export function restored(link: Linked, state: PageState): Partial<PageState> {
  const [from, to] = numbers(link.range);
  const range: Range | null = from !== undefined && to !== undefined && from <= to ? { from, to } : null;
  const name = typeof link.name === "string" ? state.names.number(link.name) : undefined;
  return {
    tracks: {
      folded: new Set(numbers(link.folded)),
      groups: new Set(Array.isArray(link.groups) ? link.groups.map(String) : []),
      hidden: new Set(numbers(link.hidden)),
      pinned: new Set(numbers(link.pinned)),
      order: numbers(link.order),
      filter: typeof link.filter === "string" ? link.filter : "",
      sort: TRACK_SORTS.find((sort) => sort === link.sort) ?? "file",
      isCompact: (link.isCompact as unknown) === true,
    },
    scroll: isNumber(link.scroll) ? link.scroll : 0,
    panelHeight: isNumber(link.height) ? link.height : null,
    ...(typeof link.panel === "string" ? { panel: link.panel as PanelId } : {}),
    selection: {
      ...state.selection,
      name: name ?? null,
      range,
      tracks: Array.isArray(link.tracks) ? numbers(link.tracks) : null,
    },
  };
}

/** The span or event of a link, if any. */
export function placeIn(link: Linked): (Place & { ts: number }) | null {
  const place: Partial<Place & { ts: number }> | null = link.place;
  if (!place) return null;
  const { track, kind, depth, index, ts } = place;
  if (!isNumber(track) || !isNumber(kind) || !isNumber(depth) || !isNumber(index)) return null;
  return { track, kind, depth, index, ts: isNumber(ts) ? ts : 0 };
}

/** Whether two links differ so much that Back should lead to the first one. */
export function isJump(from: Linked, to: Linked): boolean {
  const chosen = ({ panel, place, name, range }: Linked): string => JSON.stringify([panel, place, name, range]);
  const isMoved = from.offsets.length === to.offsets.length && from.offsets.join() !== to.offsets.join();
  const isElsewhere = to.from >= from.to || to.to <= from.from;
  const scale = (to.to - to.from) / (from.to - from.from);
  return chosen(from) !== chosen(to) || isMoved || isElsewhere || scale > MAX_ZOOM || scale < 1 / MAX_ZOOM;
}

/** A view that differs in width by this factor is another place. */
const MAX_ZOOM = 8;
