// Matches of a search, and their description.

import { count } from "../format";
import type { PageState } from "../store/state";
import { trackLabel } from "../timeline/names";
import type { SearchAnswer } from "../wire";

/** Threads by name, number or process, in the order of the traces. */
export function tracksWith(state: PageState, text: string): number[] {
  const wanted = text.toLowerCase();
  return state.server.tracks.flatMap((track, number) => {
    const texts = [trackLabel(state, number), String(track.tid ?? ""), track.process];
    const isFound = texts.some((one) => one.toLowerCase().includes(wanted));
    return isFound && track.spans + track.events + track.switches > 0 ? [number] : [];
  });
}

/** The number of matches, as text. */
export function summary(answer: Pick<SearchAnswer, "spans" | "events" | "names">, tracks: number): string {
  const found = [some(answer.spans, "span"), some(answer.events, "event")].filter(Boolean).join(", ");
  const named = answer.names === 0 ? "" : `${found} in ${some(answer.names, "name")}`;
  return [named, some(tracks, "thread")].filter(Boolean).join(" · ") || "none";
}

function some(number: number, what: string): string {
  return number === 0 ? "" : `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}

/** The index of the next or previous item, cyclically; -1 means that none was shown yet. */
export function nextIn(length: number, at: number, isBack: boolean): number {
  if (at < 0) return isBack ? length - 1 : 0;
  return (at + (isBack ? -1 : 1) + length) % length;
}
