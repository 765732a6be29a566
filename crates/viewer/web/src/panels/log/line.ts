// One log line with everything that is known of it.

import { ask } from "../api";
import { moment } from "../format";
import { lookAt } from "./jump";
import type { LogRow } from "./log";
import { element, failure } from "./panel";

interface LogDetails {
  ts_ns: number | null;
  level: string;
  file: string | null;
  line: number | null;
  text: string;
  format?: string | null;
  args?: [key: string, idx: number | null, type: string, value: string | null][];
}

let latest = 0;

/** Fills an element with a line: what is known at once, then its arguments. */
export async function lineDetails(row: LogRow, host: HTMLElement): Promise<void> {
  const turn = ++latest;
  const [number, ts, level, file, line, text] = row;
  fill(host, { ts_ns: ts, level, file, line, text });
  try {
    const details = await ask<LogDetails>("log/line", { number });
    if (turn === latest) fill(host, details);
  } catch (error) {
    if (turn === latest) host.append(failure(error));
  }
}

function fill(host: HTMLElement, details: LogDetails): void {
  const { ts_ns: ts, level, file, line, text, format, args } = details;
  const show = element("button", { type: "button", title: "Show this time in the timeline (Enter)" }, "Show in timeline");
  show.disabled = ts === null;
  show.addEventListener("click", () => ts !== null && lookAt(ts));
  const copy = element("button", { type: "button", title: "Copy the text (Ctrl+C)" }, "Copy");
  copy.addEventListener("click", () => void navigator.clipboard.writeText(text).then(() => (copy.textContent = "Copied")));
  const rows: [string, string][] = [
    ["at", ts === null ? "" : moment(ts)],
    ["level", level],
    ["where", file ? `${file}${line === null ? "" : `:${line}`}` : ""],
    ["format", format ?? ""],
  ];
  const list = element("dl");
  for (const [key, value] of rows.filter(([, value]) => value !== "")) list.append(element("dt", {}, key), element("dd", {}, value));
  const values = element("dl", { class: "args" });
  for (const [key, idx, type, value] of args ?? []) {
    const name = idx === null ? key : `${key}[${idx}]`;
    values.append(element("dt", { title: type }, name), element("dd", { class: "code" }, value ?? "null"));
  }
  host.replaceChildren(
    element("div", { class: "tools" }, show, copy),
    element("p", { class: "code wrap" }, text),
    list,
    ...(args && args.length > 0 ? [element("h4", {}, "Arguments"), values] : []),
  );
}

/** A time of day; to the microsecond, which is what a log is read to. */
export function timeOfDay(ts: number, unixOriginNs: string): string {
  // The origin does not fit into a number, its sum with a time even less.
  const ns = BigInt(unixOriginNs) + BigInt(Math.round(ts));
  const day = new Date(Number(ns / 1_000_000n));
  const micros = String((ns / 1_000n) % 1_000_000n).padStart(6, "0");
  return Number.isNaN(day.getTime()) ? "" : `${day.toISOString().slice(0, 19).replace("T", " ")}.${micros}`;
}
