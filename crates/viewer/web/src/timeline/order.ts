// The order of the tracks, and how it is changed.

import type { PageState } from "../store/state";

/** The tracks in the order that they are shown: pinned ones first. */
export function shownTracks({ server, tracks }: PageState): number[] {
  const places = new Map(tracks.order.map((track, at) => [track, at]));
  const rank = (number: number): number => {
    const place = places.get(number) ?? 1e7;
    return place + number * 1e-9 + (tracks.pinned.has(number) ? 0 : 1e9);
  };
  const all = server.tracks.map((_, number) => number).filter((number) => !tracks.hidden.has(number));
  return all.sort((one, other) => rank(one) - rank(other));
}

/** The order after a track moved past its neighbor of the same trace and process; none if there is no neighbor. */
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

/** The order after a track was dropped on another: it takes its place. */
export function movedTo(state: PageState, track: number, target: number): number[] {
  const order = shownTracks(state);
  if (track === target) return order;
  const isDown = order.indexOf(track) < order.indexOf(target);
  order.splice(order.indexOf(track), 1);
  order.splice(order.indexOf(target) + (isDown ? 1 : 0), 0, track);
  return order;
}
