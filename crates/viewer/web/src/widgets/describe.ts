// Descriptions of spans, events and log lines.

import { count, duration, moment, share } from "../format";
import { levelColor, paint } from "../theme";
import type { EventDetails, LogLine, SpanDetails } from "../wire";
import { element, facts } from "./dom";

export type Rows = [what: string, value: string][];

/** The details of a span. */
export function describe(span: SpanDetails, shared = 1): HTMLElement[] {
  const { dur_ns, self_ns, name_count, name_total_ns } = span;
  const self = self_ns === null ? "" : `${duration(self_ns)}${dur_ns ? `  (${share(self_ns, dur_ns)})` : ""}`;
  const mean = name_total_ns / Math.max(1, name_count);
  const times = dur_ns !== null && mean > 0 && name_count > 1 ? `  (this one ${(dur_ns / mean).toPrecision(3)} ×)` : "";
  const rows: Rows = [
    ["total", duration(dur_ns)],
    ["self", self],
    ["at", moment(span.ts_ns)],
    ["average", `${duration(mean)}${times}`],
    [
      "share",
      dur_ns === null
        ? ""
        : `${share(dur_ns, name_total_ns)} of ${duration(name_total_ns)} in ${count(name_count)} calls`,
    ],
    ["called from", span.caller ?? ""],
    ["where", span.file ? `${span.file}${span.line ? `:${span.line}` : ""}` : ""],
    ...listed(span.args),
  ];
  return titled(span.name, rows, shared, paint(span.name_id).css);
}

/** The details of an event. */
export function describeEvent(event: EventDetails, shared = 1): HTMLElement[] {
  const rows: Rows = [
    ["what", event.category],
    ["at", moment(event.ts_ns)],
    ["of this name", count(event.name_count)],
    ...listed(event.args),
  ];
  return titled(event.name, rows, shared, paint(event.name_id).css);
}

/** The details of a log line, and the number of lines at the same place. */
export function describeLine(line: LogLine, shared: number): HTMLElement[] {
  const level = element("strong", { style: `color: ${levelColor(line.level)}` }, line.level);
  const where = line.file ? `${line.file}${line.line ? `:${line.line}` : ""}` : "";
  const [, list] = titled("", [
    ["at", line.ts_ns === null ? "" : moment(line.ts_ns)],
    ["where", where],
    ["in this pixel", shared > 1 ? `${count(shared)} lines of this level` : ""],
  ]);
  return [level, element("p", { class: "text" }, line.text), list as HTMLElement];
}

function listed(args: SpanDetails["args"]): Rows {
  const shown = (args ?? [])
    .slice(0, 40)
    .map(([key, index, , value]): [string, string] => [
      index === null ? key : `${key}[${index}]`,
      (value ?? "null").slice(0, 500),
    ]);
  return args && args.length > 40 ? [...shown, ["", `and ${args.length - 40} more`]] : shown;
}

/** Facts below a title; `shared` of the kind are in one pixel. */
export function titled(title: string, rows: Rows, shared = 1, color?: string): HTMLElement[] {
  const head = element("strong", {});
  if (color) head.append(element("i", { class: "swatch", style: `background: ${color}` }));
  head.append(title);
  if (shared > 1) head.append(element("span", { class: "note" }, `  and ${count(shared - 1)} more in this pixel`));
  return [head, facts(rows)];
}
