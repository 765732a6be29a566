// Where each track is, from top to bottom.

import type { TrackInfo } from "../api";
import { store } from "../store";

export const ROW = 18;
export const HEAD = 21;
export const GROUP = 24;
export const CHART = 46;
export const LOG = 40;
export const RULER = 24;

/** One strip of the picture. */
export interface Strip {
  kind: "group" | "head" | "spans" | "frames" | "ranges" | "switches" | "events" | "counter" | "text" | "memory" | "logs";
  top: number;
  height: number;
  /** The track, the counter or the trace. */
  number: number;
  /** The track that it belongs to; none for those of a trace. */
  track: number | null;
  trace: number;
  /** What a person reads on the left. */
  label: string;
  /** Which heading, where it is one. */
  group?: string;
}

/** The tracks in the order that they are shown: pinned ones first. */
export function shownTracks(): number[] {
  const places = new Map(store.order.map((track, at) => [track, at]));
  const place = (number: number): number => (places.get(number) ?? 1e7) + number * 1e-9 + (store.pinned.has(number) ? 0 : 1e9);
  const all = store.state.tracks.map((_, number) => number).filter((number) => !store.hidden.has(number));
  return all.sort((one, other) => place(one) - place(other));
}

export function trackLabel(number: number): string {
  const track = store.state.tracks[number];
  if (!track) return "";
  const name = track.name || (track.tid === null ? track.process || "thread" : `thread ${track.tid}`);
  return track.kind && track.kind !== track.name ? `${name} (${track.kind})` : name;
}

export function traceLabel(number: number): string {
  const path = store.state.traces[number]?.path ?? "";
  return path.split(/[/\\]/).pop() || path;
}

/** A trace and a process of it. */
export function groupOf(track: TrackInfo): string {
  return `${track.trace}/${track.process}`;
}

/** The file where there are several, and the process where the file has several. */
function groupLabel(trace: number, process: string, isOnly: boolean): string {
  if (store.state.traces.length <= 1) return process || traceLabel(trace);
  return process && !isOnly ? `${traceLabel(trace)} · ${process}` : traceLabel(trace);
}

function append(lists: Map<string, number[]>, key: string, value: number): void {
  const known = lists.get(key);
  if (known) known.push(value);
  else lists.set(key, [value]);
}

/** Puts strips below each other. */
class Stack {
  readonly strips: Strip[] = [];
  top = RULER;
  private readonly counters = new Map<string, number[]>();

  constructor() {
    store.state.counters.forEach((counter, at) => {
      const key = counter.track === null ? `trace ${counter.trace}` : String(counter.track);
      append(this.counters, key, at);
    });
  }

  add(kind: Strip["kind"], height: number, number: number, track: number | null, trace: number, label: string, group?: string): void {
    this.strips.push({ kind, top: this.top, height, number, track, trace, label, ...(group === undefined ? {} : { group }) });
    this.top += height;
  }

  hasAny(number: number, track: TrackInfo): boolean {
    return track.spans + track.instants + track.switches > 0 || this.counters.has(String(number));
  }

  /** What belongs to a trace and to none of its threads. */
  trace(number: number): void {
    const trace = store.state.traces[number];
    if (!trace) return;
    if (trace.memory !== null) this.add("memory", CHART + 14, number, null, number, "memory in use");
    if (trace.logs > 0) this.add("logs", LOG, number, null, number, "log");
    this.charts(`trace ${number}`, null, number);
  }

  track(number: number, track: TrackInfo): void {
    const { trace } = track;
    this.add("head", HEAD, number, number, trace, trackLabel(number));
    if (store.folded.has(number)) {
      if (track.depth > 0) this.add("spans", ROW, number, number, trace, "");
      return;
    }
    if (track.switches > 0) this.add("switches", 10, number, number, trace, "off CPU");
    if (track.frame_depth > 0) this.add("frames", ROW * track.frame_depth, number, number, trace, "frames");
    if (track.range_depth > 0) this.add("ranges", ROW * track.range_depth, number, number, trace, "ranges");
    if (track.depth > 0) this.add("spans", ROW * track.depth, number, number, trace, "");
    if (track.instants > 0) this.add("events", ROW, number, number, trace, "events");
    this.charts(String(number), number, trace);
  }

  private charts(key: string, track: number | null, trace: number): void {
    for (const at of this.counters.get(key) ?? []) {
      const counter = store.state.counters[at];
      if (!counter) continue;
      if (counter.is_text) this.add("text", ROW + 2, at, track, trace, store.name(counter.name));
      else this.add("counter", CHART, at, track, trace, store.name(counter.name));
    }
  }
}

/** All strips, from the top of the picture. */
export function layout(): { strips: Strip[]; height: number } {
  const { traces, tracks } = store.state;
  const stack = new Stack();
  const groups = new Map<string, number[]>();
  traces.forEach((_, number) => groups.set(`${number}/`, []));
  for (const number of shownTracks()) {
    const track = tracks[number];
    if (!track || !stack.hasAny(number, track)) continue;
    if (store.pinned.has(number)) {
      stack.track(number, track);
      continue;
    }
    append(groups, groupOf(track), number);
  }
  const named = [...groups].filter(([, members]) => members.length > 0);
  const isGrouped = traces.length > 1 || named.length > 1;
  traces.forEach((_, trace) => {
    let isFirst = true;
    const own = [...groups].filter(([group]) => group.startsWith(`${trace}/`));
    const filled = own.filter(([, members]) => members.length > 0);
    for (const [group, members] of filled.length > 0 ? filled : own.slice(0, 1)) {
      const label = groupLabel(trace, group.slice(group.indexOf("/") + 1), filled.length <= 1);
      if (isGrouped) stack.add("group", GROUP, trace, null, trace, label, group);
      if (isGrouped && store.foldedGroups.has(group)) {
        isFirst = false;
        continue;
      }
      if (isFirst) stack.trace(trace);
      isFirst = false;
      for (const number of members) stack.track(number, tracks[number] as TrackInfo);
    }
  });
  return { strips: stack.strips, height: stack.top + 24 };
}

/** The strips that reach into a stretch of the page. */
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
