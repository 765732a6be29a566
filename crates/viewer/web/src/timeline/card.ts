// The card next to the pointer.

import { ask, SWITCH } from "../api";
import { count, duration, moment, wallClock } from "../format";
import { store } from "../store";
import { baseName, openTraces } from "../store/state";
import { describe, describeEvent, describeLine, titled, type Rows } from "../widgets/describe";
import { byId, element } from "../widgets/dom";
import type { Mark, Track } from "../queried/answer";
import type { EventMark, LogMark, TextLabel } from "../wire";
import { valueAt } from "./charts";
import type { Strip } from "./layout";
import { placeOf, type Picture } from "./picture";
import { describeMark } from "./queried";
import type { Bar } from "./scale";

/** The item under the pointer. */
export type Target =
  | { kind: "bar"; bar: Bar }
  | { kind: "event"; mark: EventMark }
  | { kind: "log"; mark: LogMark }
  | { kind: "text"; strip: Strip; label: TextLabel }
  | { kind: "chart"; strip: Strip; picture: Picture; ns: number }
  | { kind: "row"; track: Track; mark: Mark }
  | { kind: "time"; ns: number };

/** Shows and moves the card; late answers are dropped. */
export class Card {
  private readonly host = byId("hover");
  private asked = 0;
  private waiting = 0;
  private key = "";

  hide(): void {
    this.asked += 1;
    this.key = "";
    clearTimeout(this.waiting);
    this.host.hidden = true;
  }

  /** Hides the card until something else is under the pointer. */
  dismiss(): void {
    const { key } = this;
    this.hide();
    this.key = key;
  }

  /** Places the card next to a point, inside the timeline. */
  move(x: number, y: number): void {
    const room = this.host.parentElement?.getBoundingClientRect();
    if (!room) return;
    const { offsetWidth: width, offsetHeight: height } = this.host;
    const left = x + 16 + width > room.width ? Math.max(4, x - width - 12) : x + 16;
    const top = y + 18 + height > room.height ? Math.max(4, y - height - 12) : y + 18;
    this.host.style.transform = `translate(${left}px, ${top}px)`;
  }

  /** Shows known details at once and the rest when it arrives; `place` is called when the size changed. */
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
    if (target.kind === "row") return fill(describeMark(target.track, target.mark));
    if (!this.host.hidden && target.kind !== "bar") this.host.hidden = true;
    // A pointer that only passes by sends no requests.
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
    case "chart":
    case "row":
    case "time":
      return "";
  }
}

async function answer(target: Target): Promise<HTMLElement[]> {
  if (target.kind === "bar") return ofBar(target.bar);
  if (target.kind === "event") {
    const [track, ts, , , shared, id] = target.mark;
    return describeEvent(await ask("event", { track, id, ts, brief: true }), shared);
  }
  if (target.kind === "log") {
    const [, , , shared, number] = target.mark;
    return describeLine(await ask("line", { number }), shared);
  }
  if (target.kind === "text") return ofText(target);
  return [];
}

async function ofBar({ lane, bar }: Bar): Promise<HTMLElement[]> {
  const shared = lane.counts[bar] ?? 1;
  if (lane.kind === SWITCH) {
    const switched = await ask("switch", { track: lane.track, index: lane.indices[bar] ?? 0 });
    const rows: Rows = [
      ["off CPU", duration(switched.dur_ns)],
      ["at", moment(switched.ts_ns)],
      ["instead", switched.name],
      ["its thread", switched.target_tid === null ? "" : String(switched.target_tid)],
      ["in this pixel", shared > 1 ? `${count(shared)} switches` : ""],
    ];
    return titled("Not running", rows);
  }
  return describe(await ask("span", { ...placeOf(lane, bar), brief: true }), shared);
}

function ofChart({ strip, picture, ns }: Extract<Target, { kind: "chart" }>): HTMLElement[] {
  return titled(strip.label, [["at", moment(ns, 1000)], ...valueAt(picture, strip, ns)]);
}

async function ofText({
  strip,
  label: [, , shared, number],
}: Extract<Target, { kind: "text" }>): Promise<HTMLElement[]> {
  const value = await ask("text", { counter: strip.number, number });
  const [head, list] = titled(
    strip.label,
    [
      ["set at", moment(value.ts_ns)],
      ["of this name", count(store.state.server.counters[strip.number]?.samples ?? 0)],
    ],
    shared,
  );
  return [
    head as HTMLElement,
    element("p", { class: "text" }, value.text === "" ? '""' : value.text),
    list as HTMLElement,
  ];
}

/** A time, and the time of day if the traces have it. */
function ofTime(ns: number): HTMLElement[] {
  const traces = openTraces(store.state);
  const rows: Rows = [];
  const shown = new Set<string>();
  for (const trace of traces) {
    if (trace.unix_origin_ns === null) continue;
    const time = wallClock(trace.unix_origin_ns, ns - trace.offset_ns);
    if (!shown.has(time)) rows.push([traces.length > 1 ? baseName(trace.path) : "time of day", time]);
    shown.add(time);
  }
  return titled(moment(ns), rows.slice(0, 8));
}
