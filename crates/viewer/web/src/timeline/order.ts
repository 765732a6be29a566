// The order of tracks, and its changes.

import type { PageState } from "../store/state";
import { trackLabel } from "./names";

/** The tracks in display order, pinned ones first. */
export function shownTracks(state: PageState): number[] {
  const { server, tracks } = state;
  const places = new Map(tracks.order.map((track, at) => [track, at]));
  const rank = (number: number): number => (places.get(number) ?? 1e7) + (tracks.pinned.has(number) ? 0 : 1e9);
  const all = server.tracks.map((_, number) => number).filter((number) => !tracks.hidden.has(number));
  const wanted = tracks.filter.toLowerCase();
  const shown = wanted === "" ? all : all.filter((number) => trackLabel(state, number).toLowerCase().includes(wanted));
  return shown.sort((one, other) => rank(one) - rank(other) || sorted(state, one, other));
}

/** Compares tracks that the user did not move. */
function sorted(state: PageState, one: number, other: number): number {
  const { tracks } = state.server;
  const { sort } = state.tracks;
  const busy = (number: number): number => tracks[number]?.busy_ns ?? 0;
  if (sort === "busy" && busy(one) !== busy(other)) return busy(other) - busy(one);
  const first = (number: number): number => {
    const { first_ns = null, trace = 0 } = tracks[number] ?? {};
    return first_ns === null ? Infinity : first_ns + (state.server.traces[trace]?.offset_ns ?? 0);
  };
  if (sort === "first" && first(one) !== first(other)) return first(one) - first(other);
  const [name, second] = [trackLabel(state, one), trackLabel(state, other)];
  if (sort === "name" && name !== second) return name.localeCompare(second, "en", { numeric: true });
  return one - other;
}

/** The order after moving a track past its neighbor of the same trace and process; null if there is none. */
export function shifted(state: PageState, track: number, by: number): number[] | null {
  const order = shownTracks(state);
  const group = (number: number): string => {
    const of = state.server.tracks[number];
    return state.tracks.pinned.has(number) ? "pinned" : `${of?.trace}/${of?.process}`;
  };
  const at = order.indexOf(track);
  const own = group(track);
  let to = at + by;
  while (to >= 0 && to < order.length && group(order[to] as number) !== own) to += by;
  if (to < 0 || to >= order.length) return null;
  order.splice(at, 1);
  order.splice(to, 0, track);
  return order;
}

/** The order after dropping a track on another one, whose place it takes. */
export function movedTo(state: PageState, track: number, target: number): number[] {
  const order = shownTracks(state);
  if (track === target) return order;
  const isDown = order.indexOf(track) < order.indexOf(target);
  order.splice(order.indexOf(track), 1);
  order.splice(order.indexOf(target) + (isDown ? 1 : 0), 0, track);
  return order;
}
