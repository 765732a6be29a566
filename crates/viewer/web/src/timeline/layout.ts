// The vertical positions of tracks.

import { count } from "../format";
import { hasTimes, openTraces, type PageState } from "../store/state";
import type { TrackInfo } from "../wire";
import { titleOf } from "../queried/answer";
import { groupOf, traceLabel, trackLabel } from "./names";
import { shownTracks } from "./order";
import { heightOf } from "./queried";

export const ROW = 18;
export const HEAD = 21;
export const GROUP = 24;
export const CHART = 46;
export const LOG = 44;
/** Height of a track that is one compact row. */
const COMPACT = 12;
export const RULER = 24;

export type StripKind =
  | "group"
  | "head"
  | "spans"
  | "frames"
  | "ranges"
  | "switches"
  | "events"
  | "bookmarks"
  | "counter"
  | "text"
  | "memory"
  | "logs"
  | "queried";

/** The kinds of lanes of strips of bars, as numbered by the server. */
export const LANE_KINDS: Partial<Record<StripKind, number>> = { spans: 0, frames: 1, ranges: 2, switches: 3 };

/** One strip of the picture. */
export interface Strip {
  kind: StripKind;
  top: number;
  height: number;
  /** The number of the track, counter, trace or result. */
  number: number;
  /** The track that it belongs to; null for strips of a trace. */
  track: number | null;
  trace: number;
  /** The label on the left. */
  label: string;
  /** The key of the heading, if it is one. */
  group?: string;
}

/** The heading: the file if there are several, and the process if the file has several. */
function groupLabel(state: PageState, trace: number, process: string, isOnly: boolean): string {
  const label = traceLabel(state, trace);
  if (openTraces(state).length <= 1) return process || label;
  return process && !isOnly ? `${label} · ${process}` : label;
}

function append<K>(lists: Map<K, number[]>, key: K, value: number): void {
  const known = lists.get(key);
  if (known) known.push(value);
  else lists.set(key, [value]);
}

/** Stacks strips. */
class Stack {
  readonly strips: Strip[] = [];
  top = RULER;
  private readonly ofTraces = new Map<number, number[]>();
  private readonly ofTracks = new Map<number, number[]>();

  constructor(private readonly state: PageState) {
    state.server.counters.forEach((counter, at) => {
      if (counter.track === null) append(this.ofTraces, counter.trace, at);
      else append(this.ofTracks, counter.track, at);
    });
  }

  add(strip: Omit<Strip, "top">): void {
    this.strips.push({ ...strip, top: this.top });
    this.top += strip.height;
  }

  hasAny(number: number, track: TrackInfo): boolean {
    return track.spans + track.instants + track.bookmarks + track.switches > 0 || this.ofTracks.has(number);
  }

  /** Strips of a trace that do not belong to a thread. */
  trace(number: number): void {
    const info = this.state.server.traces[number];
    if (!info) return;
    const own = { number, track: null, trace: number };
    if (info.memory !== null) this.add({ ...own, kind: "memory", height: CHART + 14, label: "memory in use" });
    if (info.logs > 0) this.add({ ...own, kind: "logs", height: LOG, label: "log" });
    this.charts(this.ofTraces.get(number), null, number);
  }

  track(number: number, track: TrackInfo): void {
    const own = { number, track: number, trace: track.trace };
    if (this.state.tracks.isCompact) {
      this.add({ ...own, kind: "spans", height: COMPACT, label: trackLabel(this.state, number) });
      return;
    }
    this.add({ ...own, kind: "head", height: HEAD, label: trackLabel(this.state, number) });
    if (this.state.tracks.folded.has(number)) {
      if (track.depth > 0) this.add({ ...own, kind: "spans", height: ROW, label: "" });
      return;
    }
    const { switches, frame_depth, range_depth, depth, instants, bookmarks } = track;
    if (bookmarks > 0) this.add({ ...own, kind: "bookmarks", height: ROW, label: "bookmarks" });
    if (switches > 0) this.add({ ...own, kind: "switches", height: 10, label: "off CPU" });
    if (frame_depth > 0) this.add({ ...own, kind: "frames", height: ROW * frame_depth, label: "frames" });
    if (range_depth > 0) this.add({ ...own, kind: "ranges", height: ROW * range_depth, label: "ranges" });
    if (depth > 0) this.add({ ...own, kind: "spans", height: ROW * depth, label: "" });
    if (instants > 0) this.add({ ...own, kind: "events", height: ROW, label: "events" });
    this.charts(this.ofTracks.get(number), number, track.trace);
  }

  private charts(counters: number[] | undefined, track: number | null, trace: number): void {
    for (const number of counters ?? []) {
      const counter = this.state.server.counters[number];
      if (!counter) continue;
      const label = counter.series > 1 ? `${count(counter.series)} more series` : this.state.names.text(counter.name);
      const own = { number, track, trace, label };
      if (counter.is_text) this.add({ ...own, kind: "text", height: ROW + 2 });
      else this.add({ ...own, kind: "counter", height: CHART });
    }
  }
}

/** All strips, from the top of the picture. */
export function layout(state: PageState): { strips: Strip[]; height: number } {
  const { traces, tracks } = state.server;
  const stack = new Stack(state);
  state.queried.forEach((track, number) => {
    const height = heightOf(track);
    stack.add({ kind: "queried", height, number, track: null, trace: -1, label: titleOf(track) });
  });
  const groups = new Map<string, number[]>();
  traces.forEach((_, number) => groups.set(`${number}/`, []));
  for (const number of shownTracks(state)) {
    const track = tracks[number];
    if (!track || !stack.hasAny(number, track)) continue;
    if (state.tracks.pinned.has(number)) stack.track(number, track);
    else append(groups, groupOf(track), number);
  }
  const named = [...groups].filter(([, members]) => members.length > 0);
  const isGrouped = openTraces(state).length > 1 || named.length > 1;
  traces.forEach((info, trace) => {
    // A trace that failed before any data was read has no heading.
    if (info.state === "closed" || (info.state === "failed" && !hasTimes(info))) return;
    const own = [...groups].filter(([group]) => group.startsWith(`${trace}/`));
    const filled = own.filter(([, members]) => members.length > 0);
    const shown = filled.length > 0 ? filled : own.slice(0, 1);
    shown.forEach(([group, members], at) => {
      const label = groupLabel(state, trace, group.slice(group.indexOf("/") + 1), filled.length <= 1);
      if (isGrouped) stack.add({ kind: "group", height: GROUP, number: trace, track: null, trace, label, group });
      if (isGrouped && state.tracks.groups.has(group)) return;
      if (at === 0) stack.trace(trace);
      for (const number of members) stack.track(number, tracks[number] as TrackInfo);
    });
  });
  return { strips: stack.strips, height: stack.top + 24 };
}

/** The strips that overlap a vertical range. */
export function between(strips: Strip[], top: number, bottom: number): Strip[] {
  let [low, high] = [0, strips.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const strip = strips[middle] as Strip;
    if (strip.top + strip.height <= top) low = middle + 1;
    else high = middle;
  }
  const seen: Strip[] = [];
  for (let at = low; at < strips.length && (strips[at] as Strip).top < bottom; at++) seen.push(strips[at] as Strip);
  return seen;
}
