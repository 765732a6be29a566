// The card beside the pointer, and what it says.

import { ask, SWITCH, type EventDetails, type LogLine, type SpanDetails, type TextLabel } from "../api";
import { count, duration, moment, share, wallClock } from "../format";
import { element } from "../panels/panel";
import { store } from "../store";
import { levelColor, paint } from "../theme";
import { valueAt } from "./charts";
import type { Strip } from "./layout";
import type { EventMark, LogMark } from "./marks";
import { placeOf, type Picture } from "./picture";
import type { Bar } from "./scale";

type Rows = [what: string, value: string][];

/** What is under the pointer. */
export type Target =
  | { kind: "bar"; bar: Bar }
  | { kind: "event"; mark: EventMark }
  | { kind: "log"; mark: LogMark }
  | { kind: "text"; strip: Strip; label: TextLabel }
  | { kind: "chart"; strip: Strip; picture: Picture; ns: number }
  | { kind: "time"; ns: number };

/** Shows and moves the card; late answers are dropped. */
export class Card {
  private readonly host = document.getElementById("hover") as HTMLElement;
  private asked = 0;
  private waiting = 0;
  private key = "";

  hide(): void {
    this.asked += 1;
    this.key = "";
    clearTimeout(this.waiting);
    this.host.hidden = true;
  }

  /** Beside a point, inside of the timeline. */
  move(x: number, y: number): void {
    const room = this.host.parentElement?.getBoundingClientRect();
    if (!room) return;
    const { offsetWidth: width, offsetHeight: height } = this.host;
    const left = x + 16 + width > room.width ? Math.max(4, x - width - 12) : x + 16;
    const top = y + 18 + height > room.height ? Math.max(4, y - height - 12) : y + 18;
    this.host.style.transform = `translate(${left}px, ${top}px)`;
  }

  /** Says what is known at once, and the rest when it is known; `place` is called when the size changed. */
  show(target: Target, place: () => void): void {
    const key = keyOf(target);
    if (key === this.key && key !== "") return;
    this.key = key;
    const number = ++this.asked;
    clearTimeout(this.waiting);
    const fill = (content: HTMLElement[] | null): void => {
      if (number !== this.asked || !content) return;
      this.host.replaceChildren(...content);
      this.host.hidden = false;
      place();
    };
    if (target.kind === "chart") return fill(ofChart(target));
    if (target.kind === "time") return fill(ofTime(target.ns));
    if (this.host.hidden === false && target.kind !== "bar") this.host.hidden = true;
    // A pointer that only passes asks for nothing.
    this.waiting = window.setTimeout(() => void answer(target).then(fill, () => fill(null)), 35);
  }
}

function keyOf(target: Target): string {
  switch (target.kind) {
    case "bar":
      return `bar ${target.bar.lane.track} ${target.bar.lane.kind} ${target.bar.lane.depth} ${target.bar.lane.indices[target.bar.bar]} ${target.bar.lane.counts[target.bar.bar]}`;
    case "event":
      return `event ${target.mark[0]} ${target.mark[5]}`;
    case "log":
      return `log ${target.mark[4]} ${target.mark[3]}`;
    case "text":
      return `text ${target.strip.number} ${target.label[3]} ${target.label[2]}`;
    default:
      return "";
  }
}

async function answer(target: Target): Promise<HTMLElement[]> {
  if (target.kind === "bar") return ofBar(target.bar);
  if (target.kind === "event") {
    const [track, ts, , , shared, id] = target.mark;
    return describeEvent(await ask<EventDetails>("event", { track, id, ts, brief: true }), shared);
  }
  if (target.kind === "log") {
    const [, , , shared, number] = target.mark;
    return describeLine(await ask<LogLine>("line", { number }), shared);
  }
  if (target.kind === "text") return ofText(target);
  return [];
}

async function ofBar({ lane, bar }: Bar): Promise<HTMLElement[]> {
  const shared = lane.counts[bar] ?? 1;
  if (lane.kind === SWITCH) {
    const switched = await ask<{ name: string; ts_ns: number; dur_ns: number; target_tid: number | null }>("span", { ...placeOf(lane, bar) });
    const rows: Rows = [
      ["off CPU", duration(switched.dur_ns)],
      ["at", moment(switched.ts_ns)],
      ["instead", switched.name],
      ["its thread", switched.target_tid === null ? "" : String(switched.target_tid)],
      ["in this pixel", shared > 1 ? `${count(shared)} switches` : ""],
    ];
    return titled("Not running", rows);
  }
  return describe(await ask<SpanDetails>("span", { ...placeOf(lane, bar), brief: true }), shared);
}

function ofChart({ strip, picture, ns }: Extract<Target, { kind: "chart" }>): HTMLElement[] {
  return titled(strip.label, [["at", moment(ns, 1000)], ...valueAt(picture, strip, ns)]);
}

async function ofText({ strip, label: [, , shared, number] }: Extract<Target, { kind: "text" }>): Promise<HTMLElement[]> {
  const value = await ask<{ ts_ns: number; text: string }>("text", { counter: strip.number, number });
  const [head, list] = titled(strip.label, [["set at", moment(value.ts_ns)], ["of this name", count(store.state.counters[strip.number]?.samples ?? 0)]], shared);
  return [head as HTMLElement, element("p", { class: "text" }, value.text === "" ? '""' : value.text), list as HTMLElement];
}

/** A time, and the time of day where the traces know it. */
function ofTime(ns: number): HTMLElement[] {
  const { traces } = store.state;
  const rows: Rows = [];
  const shown = new Set<string>();
  for (const trace of traces) {
    if (trace.unix_origin_ns === null) continue;
    const time = wallClock(trace.unix_origin_ns, ns - trace.offset_ns);
    if (!shown.has(time)) rows.push([traces.length > 1 ? (trace.path.split("/").pop() ?? "") : "time of day", time]);
    shown.add(time);
  }
  return titled(moment(ns, 1), rows.slice(0, 8));
}

/** Everything about a span. */
export function describe(span: SpanDetails, shared = 1): HTMLElement[] {
  const { dur_ns, self_ns, name_count, name_total_ns } = span;
  const own = self_ns === undefined || self_ns === null ? "" : `${duration(self_ns)}${dur_ns ? `  (${share(self_ns, dur_ns)})` : ""}`;
  const mean = name_total_ns / Math.max(1, name_count);
  const times = dur_ns !== null && mean > 0 && name_count > 1 ? `  (this one ${(dur_ns / mean).toPrecision(3)} ×)` : "";
  const rows: Rows = [
    ["total", duration(dur_ns)],
    ["own", own],
    ["at", moment(span.ts_ns)],
    ["average", `${duration(mean)}${times}`],
    ["share", dur_ns === null ? "" : `${share(dur_ns, name_total_ns)} of ${duration(name_total_ns)} in ${count(name_count)} calls`],
    ["where", span.file ? `${span.file}${span.line ? `:${span.line}` : ""}` : ""],
    ...listed(span.args),
  ];
  return titled(span.name, rows, shared, paint(span.name_id).css);
}

/** Everything about a point in time. */
export function describeEvent(event: EventDetails, shared = 1): HTMLElement[] {
  const rows: Rows = [
    ["what", event.category],
    ["at", moment(event.ts_ns)],
    ["of this name", count(event.name_count)],
    ...listed(event.args),
  ];
  return titled(event.name, rows, shared, paint(event.name_id).css);
}

function describeLine(line: LogLine, shared: number): HTMLElement[] {
  const level = element("strong", { style: `color: ${levelColor(line.level)}` }, line.level);
  const where = line.file ? `${line.file}${line.line ? `:${line.line}` : ""}` : "";
  const [, list] = titled("", [["at", line.ts_ns === null ? "" : moment(line.ts_ns)], ["where", where], ["in this pixel", shared > 1 ? `${count(shared)} lines of this level` : ""]]);
  return [level, element("p", { class: "text" }, line.text), list as HTMLElement];
}

function listed(args: SpanDetails["args"]): Rows {
  const shown = (args ?? []).slice(0, 40).map(([key, index, , value]): [string, string] => [index === null ? key : `${key}[${index}]`, (value ?? "null").slice(0, 500)]);
  return args && args.length > 40 ? [...shown, ["", `and ${args.length - 40} more`]] : shown;
}

function titled(title: string, rows: Rows, shared = 1, color?: string): HTMLElement[] {
  const head = element("strong", {});
  if (color) head.append(element("i", { class: "swatch", style: `background: ${color}` }));
  head.append(title);
  if (shared > 1) head.append(element("span", { class: "note" }, `  and ${count(shared - 1)} more in this pixel`));
  const list = element("dl");
  for (const [what, value] of rows) {
    if (value !== "") list.append(element("dt", {}, what), element("dd", {}, value));
  }
  return [head, list];
}

