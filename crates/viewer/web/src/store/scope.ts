// The range of the traces that figures cover.

import type { RangeQuery } from "../wire";
import type { PageState, Selection } from "./state";

export type Scope = "selection" | "window" | "all";

/** The current scope of figures: the selection, unless another scope was chosen for it. */
export function scopeOf({ selection, links }: PageState): Scope {
  const link = links["range"] as { scope?: unknown; except?: unknown } | null | undefined;
  const hasSelection = selection.range !== null || (selection.tracks?.length ?? 0) > 0;
  if (hasSelection && link?.except !== selectionKey(selection)) return "selection";
  return link?.scope === "window" ? "window" : "all";
}

/** Distinguishes selections of time and tracks. */
export function selectionKey({ range, tracks }: Selection): string {
  return JSON.stringify([range && [range.from, range.to], tracks]);
}

/** The range for queries. */
export function rangeOf(state: PageState): RangeQuery {
  const scope = scopeOf(state);
  const { range, tracks } = state.selection;
  const time = scope === "selection" ? range : scope === "window" ? state.view : null;
  const asked: RangeQuery = {};
  if (time) [asked.from, asked.to] = [Math.round(time.from), Math.round(Math.max(time.from, time.to))];
  if (scope === "selection" && tracks && tracks.length > 0) asked.tracks = tracks.join();
  return asked;
}

/** Whether the figures cover everything. */
export function isWhole(asked: RangeQuery): boolean {
  return asked.from === undefined && asked.tracks === undefined;
}
