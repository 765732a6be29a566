// The state of the page, and values derived from it.

import type { Noted } from "../notes/notes";
import type { Track } from "../queried/answer";
import type { Anchor } from "../timeline/align";
import type { EventDetails, Found, SpanDetails, State, StoreAbout, TraceInfo } from "../wire";
import { Names } from "./names";
import type { PanelId } from "./panels";

/** A range of the axis, in nanoseconds. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The position of a span, enough to find it again. */
export type Place = Pick<Found, "track" | "kind" | "depth" | "index">;

export interface Selection {
  readonly place: Place | null;
  /** The start of the place; known before the span is. */
  readonly ts: number | null;
  readonly span: SpanDetails | null;
  /** A point in time, instead of a span. */
  readonly event: EventDetails | null;
  /** All spans of this name are highlighted. */
  readonly name: number | null;
  /** A time range that panels show. */
  readonly range: Range | null;
  /** The tracks that panels show; null for all. */
  readonly tracks: readonly number[] | null;
}

/** How the tracks are shown, by their numbers. */
export interface Tracks {
  readonly folded: ReadonlySet<number>;
  readonly hidden: ReadonlySet<number>;
  readonly pinned: ReadonlySet<number>;
  /** The order, if it was changed. */
  readonly order: readonly number[];
  /** Headings that are folded, by trace and process. */
  readonly groups: ReadonlySet<string>;
  /** Only tracks whose name contains this text are shown. */
  readonly filter: string;
  readonly sort: TrackSort;
  /** Each track is one compact row. */
  readonly isCompact: boolean;
}

/** By the order of the file, by time inside spans, or by name. */
export const TRACK_SORTS = ["file", "first", "busy", "name"] as const;
export type TrackSort = (typeof TRACK_SORTS)[number];

/** What to bring into view in the timeline. */
export type Reveal =
  | { readonly kind: "found"; readonly found: Found }
  | { readonly kind: "counter"; readonly number: number }
  | { readonly kind: "track"; readonly track: number }
  /** The whole selection. */
  | { readonly kind: "selection" }
  /** The next or the previous span of the selected name. */
  | { readonly kind: "step"; readonly isBack: boolean };

export interface PageState {
  /** The last state of the server. */
  server: State;
  names: Names;
  view: Range;
  selection: Selection;
  /** Names that were searched for; they are highlighted if none is selected. */
  found: ReadonlySet<number> | null;
  /** The text in the search field. */
  searched: string;
  tracks: Tracks;
  /** How far the tracks are scrolled. */
  scroll: number;
  /** Notes on the traces. */
  notes: readonly Noted[];
  /** SQL results on the timeline. */
  queried: readonly Track[];
  /** The span or event with which a trace will be aligned. */
  held: Anchor | null;
  /** The store of the page and its contents; null if the page shows traces. */
  stored: { readonly about: StoreAbout | null } | null;
  /** The panel that is open. */
  panel: PanelId;
  /** The saved state of each panel. A link may hold anything, so validate it before use. */
  links: Readonly<Record<string, unknown>>;
  /** The panel that was opened from elsewhere, until it has the focus. */
  called: { readonly panel: PanelId } | null;
  /** The height of the panels, if it was set. */
  panelHeight: number | null;
  isDark: boolean;
  /** Whether dragging selects instead of moving. */
  isBoxMode: boolean;
  reveal: Reveal | null;
  /** Incremented when the server should be polled at once. */
  asked: number;
}

/** Nothing is selected. */
export const NOTHING: Selection = {
  place: null,
  ts: null,
  span: null,
  event: null,
  name: null,
  range: null,
  tracks: null,
};

export const NO_TRACKS: Tracks = {
  folded: new Set(),
  hidden: new Set(),
  pinned: new Set(),
  order: [],
  groups: new Set(),
  filter: "",
  sort: "file",
  isCompact: false,
};

export function initial(): PageState {
  return {
    server: {
      revision: -1,
      read_bytes: 0,
      total_bytes: 0,
      from_ns: null,
      to_ns: null,
      traces: [],
      tracks: [],
      counters: [],
      names: 0,
      logs: 0,
      links: 0,
      sql: false,
    },
    names: Names.none(),
    view: { from: 0, to: 1e9 },
    selection: NOTHING,
    found: null,
    searched: "",
    tracks: NO_TRACKS,
    scroll: 0,
    notes: [],
    queried: [],
    held: null,
    stored: null,
    panel: "overview",
    links: {},
    called: null,
    panelHeight: null,
    isDark: false,
    isBoxMode: false,
    reveal: null,
    asked: 0,
  };
}

/** Whether a trace grows while it is shown. */
export function isLive({ server }: PageState): boolean {
  return server.traces.some((trace) => trace.state === "live");
}

/** Whether the server has not answered yet, or is still loading. */
export function isLoading({ server }: PageState): boolean {
  return server.revision < 0 || server.traces.some((trace) => trace.state === "loading");
}

/** The whole axis. */
export function extent({ server: { from_ns, to_ns } }: PageState): Range {
  if (from_ns === null || to_ns === null) return { from: 0, to: 1e9 };
  return { from: from_ns, to: Math.max(to_ns, from_ns + 1) };
}

/** With a gap this many times longer than the traces, they would get no pixels. */
const FAR = 1000;

/** The range of the earliest trace and of the traces near it. */
export function firstCluster(state: PageState): Range {
  const ranges = openTraces(state)
    .filter(hasTimes)
    .map(({ from_ns, to_ns, offset_ns }) => ({ from: from_ns + offset_ns, to: to_ns + offset_ns }))
    .sort((one, other) => one.from - other.from);
  const [first, ...rest] = ranges;
  if (!first) return extent(state);
  const { from } = first;
  let { to } = first;
  for (const next of rest) {
    const longest = Math.max(to - from, next.to - next.from, 1);
    if (next.from - to > FAR * longest) break;
    to = Math.max(to, next.to);
  }
  return { from, to };
}

/** Limits a view: not narrower than the resolution of times, and not far beyond the axis. */
export function within(all: Range, { from, to }: Range): Range {
  const whole = Math.max(all.to - all.from, 10);
  const finest = Math.max(10, 128 * Number.EPSILON * Math.max(Math.abs(from), Math.abs(to)));
  const width = Math.min(Math.max(to - from, finest), Math.max(whole * 1.2, finest));
  const middle = (from + to) / 2;
  const lowest = all.from - whole * 0.1;
  const highest = all.to + whole * 0.1;
  const start = Math.min(Math.max(middle - width / 2, lowest), Math.max(lowest, highest - width));
  return { from: start, to: start + width };
}

/** How other names are drawn: faintly during a search, softly next to a selection. */
export interface Fading {
  tone: "soft" | "faint";
  isFaded(name: number): boolean;
}

/** Which names are faded; none without a search or a selection. */
export function fading({ selection: { name: chosen }, found }: PageState): Fading | null {
  if (found !== null && found.size > 0)
    return { tone: "faint", isFaded: (name) => !found.has(name) && name !== chosen };
  return chosen === null ? null : { tone: "soft", isFaded: (name) => name !== chosen };
}

/** The traces that were not closed. */
export function openTraces({ server }: PageState): TraceInfo[] {
  return server.traces.filter((trace) => trace.state !== "closed");
}

/** The numbers of the traces that are read. */
export function readyTraces({ server }: PageState): number[] {
  return server.traces.flatMap((trace, number) => (trace.state === "ready" ? [number] : []));
}

/** Whether a trace has anything on the axis. */
export function hasTimes({ from_ns, to_ns, logs, memory }: TraceInfo): boolean {
  return to_ns > from_ns || logs > 0 || memory !== null;
}

/** When the selection starts, known as soon as it is found. */
export function selectedAt({ ts, span, event }: Selection): number | null {
  return ts ?? span?.ts_ns ?? event?.ts_ns ?? null;
}

/** The selection after a change; another place is not the event that was selected before. */
export function selected(before: Selection, change: Partial<Selection>): Selection {
  const isOther = change.place !== undefined || change.span !== undefined;
  return {
    ...before,
    ...(isOther ? { event: null } : {}),
    ...(change.place === undefined ? {} : { ts: null }),
    ...change,
  };
}

/** The selection in a new state: a span or an event moves with its trace. */
export function carried({ selection, server: old }: PageState, now: State): Selection {
  const { ts, span, event, place } = selection;
  const track = (span ?? event ?? place)?.track;
  const trace = track === undefined ? undefined : old.tracks[track]?.trace;
  if (trace === undefined) return selection;
  const by = (now.traces[trace]?.offset_ns ?? 0) - (old.traces[trace]?.offset_ns ?? 0);
  if (by === 0) return selection;
  return {
    ...selection,
    ts: ts === null ? null : ts + by,
    span: span && { ...span, ts_ns: span.ts_ns + by },
    event: event && { ...event, ts_ns: event.ts_ns + by },
  };
}

/** The set with the value added or, if it is there, removed. */
export function flipped<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

/** The file name of a path. */
export function baseName(path: string): string {
  return path.split(/[/\\]/).pop() || path;
}
