// Where each track is, from top to bottom.

import { store } from "../store";

export const ROW = 18;
export const HEAD = 18;
export const CHART = 44;
export const RULER = 22;

/** One strip of the picture. */
export interface Strip {
  kind: "head" | "spans" | "frames" | "ranges" | "switches" | "events" | "counter" | "memory" | "logs";
  top: number;
  height: number;
  /** The track, the counter or the trace. */
  number: number;
  /** What a person reads on the left. */
  label: string;
}

/** The tracks in the order that they are shown. */
export function shownTracks(): number[] {
  const all = store.state.tracks.map((_, number) => number).filter((number) => !store.hidden.has(number));
  const place = (number: number): number => {
    const at = store.order.indexOf(number);
    return (store.pinned.has(number) ? 0 : 1e9) + (at < 0 ? 1e6 + number : at);
  };
  return all.sort((one, other) => place(one) - place(other));
}

export function trackLabel(number: number): string {
  const track = store.state.tracks[number];
  if (!track) return "";
  const name = track.name || (track.tid === null ? `thread ${track.thread_id}` : `thread ${track.tid}`);
  return track.kind ? `${name} (${track.kind})` : name;
}

/** All strips, from the top of the picture. */
export function layout(): { strips: Strip[]; height: number } {
  const strips: Strip[] = [];
  let top = RULER;
  const add = (kind: Strip["kind"], height: number, number: number, label: string): void => {
    strips.push({ kind, top, height, number, label });
    top += height;
  };
  store.state.traces.forEach((trace, number) => {
    if (trace.memory !== null) add("memory", CHART + 16, number, "memory in use");
  });
  if (store.state.logs > 0) add("logs", ROW, 0, "log");
  for (const number of shownTracks()) {
    const track = store.state.tracks[number];
    if (!track || track.spans + track.events + track.switches === 0) continue;
    add("head", HEAD, number, trackLabel(number));
    if (store.folded.has(number)) {
      if (track.depth > 0) add("spans", ROW, number, "");
      continue;
    }
    if (track.switches > 0) add("switches", 8, number, "");
    if (track.frame_depth > 0) add("frames", ROW, number, "frames");
    if (track.range_depth > 0) add("ranges", ROW * track.range_depth, number, "ranges");
    if (track.depth > 0) add("spans", ROW * track.depth, number, "");
    if (track.events > 0) add("events", 14, number, "events");
    store.state.counters.forEach((counter, at) => {
      if (counter.track === number) add("counter", CHART, at, store.name(counter.name));
    });
  }
  store.state.counters.forEach((counter, at) => {
    if (counter.track === null) add("counter", CHART, at, store.name(counter.name));
  });
  return { strips, height: top + 24 };
}
