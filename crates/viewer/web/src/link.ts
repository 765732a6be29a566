// Saves the page as a link and restores it. A link is untrusted and may contain anything.

import { EVENT } from "./api";
import type { PanelId } from "./store/panels";
import { TRACK_SORTS, type PageState, type Place, type Range } from "./store/state";

export interface Linked {
  from: number;
  to: number;
  name: string | null;
  /** The open panel; null leaves it as it is. */
  panel: string | null;
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

/** The link in a fragment, if it has a view. Other programs write only a few fields; the others get defaults. */
export function parsed(fragment: string): Linked | null {
  try {
    const link = JSON.parse(decodeURIComponent(fragment.slice(1))) as Unchecked<Linked> | null;
    const { from, to } = link ?? {};
    return link && isNumber(from) && isNumber(to) && to > from ? { from, to, ...checked(link) } : null;
  } catch {
    return null;
  }
}

/** Fields that may be missing or have any type. */
type Unchecked<T> = Partial<Record<keyof T, unknown>>;

function checked(link: Unchecked<Linked>): Omit<Linked, "from" | "to"> {
  const [start, end] = numbers(link.range);
  return {
    name: text(link.name),
    panel: text(link.panel),
    range: start !== undefined && end !== undefined ? [start, end] : null,
    tracks: Array.isArray(link.tracks) ? numbers(link.tracks) : null,
    place: placeFrom(link.place as Unchecked<Place & { ts: number }> | null | undefined),
    folded: numbers(link.folded),
    groups: Array.isArray(link.groups) ? link.groups.map(String) : [],
    hidden: numbers(link.hidden),
    pinned: numbers(link.pinned),
    order: numbers(link.order),
    filter: text(link.filter) ?? "",
    sort: text(link.sort) ?? "file",
    isCompact: link.isCompact === true,
    scroll: isNumber(link.scroll) ? link.scroll : 0,
    height: isNumber(link.height) ? link.height : null,
    offsets: numbers(link.offsets),
    panels: typeof link.panels === "object" ? { ...link.panels } : {},
  };
}

function placeFrom(place: Unchecked<Place & { ts: number }> | null | undefined): Linked["place"] {
  const { track, kind, depth, index, ts } = place ?? {};
  if (!isNumber(track) || !isNumber(kind) || !isNumber(depth) || !isNumber(index)) return null;
  return { track, kind, depth, index, ...(isNumber(ts) ? { ts } : {}) };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter(isNumber) : [];
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The panel states of a link. */
export function panelsOf(link: Linked | null): Record<string, unknown> {
  return { ...link?.panels };
}

/** The offsets of a link that differ from the current ones, by the number of the trace. */
export function wrongOffsets(link: Linked | null, { server }: PageState): { trace: number; ns: number }[] {
  const wanted = server.traces.map((info, trace) => ({ trace, ns: link?.offsets[trace] ?? info.offset_ns }));
  return wanted.filter(({ trace, ns }) => ns !== server.traces[trace]?.offset_ns);
}

/** The page state of a link, when names and tracks are known; the view is set afterwards. */
export function restored(link: Linked, state: PageState): Partial<PageState> {
  const [from, to] = link.range ?? [];
  const range: Range | null = from !== undefined && to !== undefined && from <= to ? { from, to } : null;
  const name = link.name === null ? undefined : state.names.number(link.name);
  return {
    tracks: {
      folded: new Set(link.folded),
      groups: new Set(link.groups),
      hidden: new Set(link.hidden),
      pinned: new Set(link.pinned),
      order: link.order,
      filter: link.filter,
      sort: TRACK_SORTS.find((sort) => sort === link.sort) ?? "file",
      isCompact: link.isCompact,
    },
    scroll: link.scroll,
    panelHeight: link.height,
    ...(link.panel === null ? {} : { panel: link.panel as PanelId }),
    selection: { ...state.selection, name: name ?? null, range, tracks: link.tracks },
  };
}

/** The span or event of a link, if any. */
export function placeIn({ place }: Linked): (Place & { ts: number }) | null {
  return place && { ts: 0, ...place };
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
