// The filter of the log, and the marks in its lines.

import type { LogFilter } from "../../store/panels";
import type { LogQuery } from "../../wire";

/** Restores a filter from saved state, which may be anything. */
export function filterOf(kept: unknown): LogFilter {
  const known = (typeof kept === "object" ? kept : null) as Partial<Record<keyof LogFilter, unknown>> | null;
  const levels = Array.isArray(known?.levels) ? known.levels.filter((level) => typeof level === "string") : [];
  return {
    text: typeof known?.text === "string" ? known.text : "",
    regex: known?.regex === true,
    case: known?.case === true,
    levels,
    site: isSite(known?.site) ? known.site : null,
  };
}

function isSite(value: unknown): value is NonNullable<LogFilter["site"]> {
  const site = value as LogFilter["site"] | undefined;
  return !!site && Number.isInteger(site.trace) && Number.isInteger(site.id) && typeof site.name === "string";
}

/** The filter as a query. */
export function queryOf({ text, regex, case: hasCase, levels, site }: LogFilter): LogQuery {
  const query: LogQuery = {};
  if (site) query.site = `${site.trace}:${site.id}`;
  if (text !== "") query.text = text;
  if (regex) query.regex = true;
  if (hasCase) query.case = true;
  if (levels.length > 0) query.levels = levels.join(",");
  return query;
}

/** Splits a text into pieces, every second of which is a match. */
export function marks(text: string, { text: wanted, regex, case: hasCase }: LogFilter): string[] {
  if (regex || wanted === "") return [text];
  const [within, searched] = hasCase ? [text, wanted] : [text.toLowerCase(), wanted.toLowerCase()];
  // Some letters change their length with their case, so marks would be misplaced.
  if (within.length !== text.length) return [text];
  const pieces: string[] = [];
  let start = 0;
  for (let at = within.indexOf(searched); at >= 0; at = within.indexOf(searched, start)) {
    pieces.push(text.slice(start, at), text.slice(at, at + searched.length));
    start = at + searched.length;
  }
  return [...pieces, text.slice(start)];
}
