// The names of tracks and traces.

import { count, duration } from "../format";
import { baseName, openTraces, type PageState } from "../store/state";
import type { TrackInfo } from "../wire";

export function trackLabel({ server }: PageState, number: number): string {
  const track = server.tracks[number];
  if (!track) return "";
  if (track.threads > 1) return `${count(track.threads)} more threads`;
  const name = track.name || (track.tid === null ? track.process || "thread" : `thread ${track.tid}`);
  const isShared = track.tid !== null && repeatedNames(server.tracks).has(nameKey(track));
  const distinct = isShared && track.name ? `${name} ${track.tid}` : name;
  return track.kind && track.kind !== track.name ? `${distinct} (${track.kind})` : distinct;
}

function nameKey(track: TrackInfo): string {
  return `${groupOf(track)}/${track.name}`;
}

/** Names that several threads of a process share; cached for the last tracks. */
let repeated: { of: TrackInfo[]; names: Set<string> } = { of: [], names: new Set() };

function repeatedNames(tracks: TrackInfo[]): Set<string> {
  if (repeated.of !== tracks) {
    const [once, names] = [new Set<string>(), new Set<string>()];
    for (const key of tracks.map(nameKey)) (once.has(key) ? names : once).add(key);
    repeated = { of: tracks, names };
  }
  return repeated.names;
}

export function traceLabel({ server }: PageState, number: number): string {
  return baseName(server.traces[number]?.path ?? "");
}

/** The key of a trace and process. */
export function groupOf(track: TrackInfo): string {
  return `${track.trace}/${track.process}`;
}

/** The name of an image file: trace and range. */
export function pictureName(state: PageState): string {
  const [first] = openTraces(state);
  const file = baseName(first?.path ?? "traceloom").replace(/[^\w.-]+/g, "_");
  const [from, to] = [state.view.from, state.view.to].map((ns) => duration(ns).replace(" ", ""));
  return `${file}-${from}-${to}.png`;
}
