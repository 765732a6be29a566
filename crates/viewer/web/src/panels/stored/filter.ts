// Filter and order of the list of traces.

import type { StoredFilter } from "../../store/panels";
import type { StoredSort, StoredState, TracesQuery } from "../../wire";

export const STATES: readonly (readonly [StoredState, string])[] = [
  ["all", "All traces"],
  ["fine", "Without problems"],
  ["damaged", "With problems"],
  ["quarantined", "In quarantine"],
];
const SORTS: readonly StoredSort[] = ["bytes", "duration", "entries", "path", "problems", "start", "tag"];

/** A filter from a saved state, which may be anything. */
export function filterOf(kept: unknown): StoredFilter {
  const known = (typeof kept === "object" ? kept : null) as Partial<Record<keyof StoredFilter, unknown>> | null;
  return {
    text: typeof known?.text === "string" ? known.text : "",
    tags: tagsOf(known?.tags),
    state: STATES.map(([id]) => id).find((id) => id === known?.state) ?? "all",
    sort: SORTS.find((sort) => sort === known?.sort) ?? "start",
    column: typeof known?.column === "string" ? known.column : "",
    isDown: known?.isDown !== false,
    at: typeof known?.at === "number" && known.at > 0 ? Math.floor(known.at) : 0,
  };
}

function tagsOf(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** The filter as a query for the server. */
export function queryOf(
  { text, tags, state, sort, column, isDown }: StoredFilter,
  skip: number,
  take: number,
): TracesQuery {
  const wanted = Object.entries(tags).map(([column, value]) => [column, [value]] as [string, string[]]);
  return { text, tags: Object.fromEntries(wanted), state, sort, column, is_down: isDown, skip, take };
}

/** The filter with one value of a tag, or with any. */
export function tagged(filter: StoredFilter, column: string, value: string | null): StoredFilter {
  const rest = Object.entries(filter.tags).filter(([known]) => known !== column);
  return { ...filter, at: 0, tags: Object.fromEntries(value === null ? rest : [...rest, [column, value]]) };
}

/** The filter sorted by a column: texts from A to Z first, anything else from the largest; then the other way around. */
export function sorted(filter: StoredFilter, sort: StoredSort, column = ""): StoredFilter {
  const isSame = isSortedBy(filter, sort, column);
  const isText = sort === "path" || (sort === "tag" && column !== "day");
  return { ...filter, at: 0, sort, column, isDown: isSame ? !filter.isDown : !isText };
}

export function isSortedBy(filter: StoredFilter, sort: StoredSort, column = ""): boolean {
  return filter.sort === sort && (sort !== "tag" || filter.column === column);
}
