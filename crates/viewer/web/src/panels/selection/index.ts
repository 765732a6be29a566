// What is selected.

import { ask, type Totals } from "../api";
import { bytes, count, duration, moment, share } from "../format";
import { store } from "../store";
import { describe, describeEvent } from "../timeline/card";
import { trackLabel } from "../timeline/layout";
import { element, failure, note, type Panel } from "./panel";

let host: HTMLElement | null = null;
let asked = 0;
let known: { question: string; totals: Totals } | null = null;

export const selection: Panel = {
  id: "selection",
  title: "Selection",
  isUseful: () => true,
  show(target) {
    host = target;
    return fill();
  },
  update: fill,
};

async function fill(): Promise<void> {
  const number = ++asked;
  const { span, event, range } = store.selection;
  const parts: HTMLElement[] = [];
  if (span) parts.push(element("section", {}, ...describe(span)));
  else if (event) parts.push(element("section", {}, ...describeEvent(event)));
  if (!range) {
    if (parts.length === 0) parts.push(note("Click a span, or drag on the ruler to select a stretch of time; shift + drag selects tracks too. ? shows the keys."), overview());
    host?.replaceChildren(element("div", { class: "columns" }, ...parts));
    return;
  }
  const { question, parameters } = asking();
  const show = (totals: HTMLElement): void => host?.replaceChildren(element("div", { class: "columns" }, ...parts, totals));
  if (known?.question === question) return show(boxed(known.totals));
  // The old totals stay until the new ones are there, unless that takes long.
  const waiting = setTimeout(() => number === asked && show(element("section", {}, ...heading(), note("adding up …"))), 150);
  try {
    const totals = await ask<Totals>("totals", parameters);
    known = { question, totals };
    if (number === asked) show(boxed(totals));
  } catch (error) {
    if (number === asked) show(element("section", {}, ...heading(), failure(error)));
  } finally {
    clearTimeout(waiting);
  }
}

function asking(): { question: string; parameters: Record<string, string> } {
  const { range, tracks } = store.selection;
  const whole = (ns: number): string => BigInt(Math.round(ns)).toString();
  const parameters: Record<string, string> = { from: whole(range?.from ?? 0), to: whole(range?.to ?? 0) };
  if (tracks) parameters["tracks"] = tracks.join();
  return { question: `${store.state.revision} ${JSON.stringify(parameters)}`, parameters };
}

function heading(): HTMLElement[] {
  const { range, tracks } = store.selection;
  if (!range) return [];
  const [from, to] = [moment(range.from), moment(range.to)];
  const on = tracks === null ? "all tracks" : tracks.length <= 3 ? tracks.map(trackLabel).join(", ") : `${tracks.length} tracks`;
  return [element("strong", {}, duration(range.to - range.from)), element("span", { class: "note" }, `  ${from} to ${to} · ${on}`)];
}

/** What begins in the box, as `traceloom stats` counts it. */
function boxed(totals: Totals): HTMLElement {
  const { range } = store.selection;
  const long = (range?.to ?? 0) - (range?.from ?? 0);
  const rows: [string, string][] = [
    ["spans", `${count(totals.spans)}${totals.unclosed > 0 ? ` and ${count(totals.unclosed)} never closed` : ""}`],
    ["names", count(totals.names)],
    ["sum", duration(totals.total_ns)],
    ["busy", `${duration(totals.busy_ns)}  (${share(totals.busy_ns, long)} of the time${totals.threads > 1 ? `, ${count(totals.threads)} threads` : ""})`],
    ["average", totals.spans > 0 ? duration(totals.total_ns / totals.spans) : ""],
    ["events", totals.events > 0 ? count(totals.events) : ""],
    ["off CPU", totals.switches > 0 ? `${duration(totals.off_cpu_ns)} in ${count(totals.switches)} switches` : ""],
  ];
  const list = element("dl", { "data-totals": "" });
  for (const [what, value] of rows) if (value !== "") list.append(element("dt", {}, what), element("dd", {}, value));
  return element("section", {}, ...heading(), list);
}

function several(number: number, what: string): string {
  return `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}

function overview(): HTMLElement {
  const list = element("dl");
  store.state.traces.forEach((trace, number) => {
    const own = store.state.tracks.filter((track) => track.trace === number);
    const spans = own.reduce((sum, track) => sum + track.spans, 0);
    const events = own.reduce((sum, track) => sum + track.events, 0);
    const facts = [`${trace.format} ${trace.version}`, bytes(trace.bytes)];
    if (trace.to_ns > trace.from_ns) facts.push(duration(trace.to_ns - trace.from_ns));
    if (spans > 0) facts.push(several(spans, "span"));
    if (events > 0) facts.push(several(events, "event"));
    if (trace.logs > 0) facts.push(several(trace.logs, "log line"));
    if (trace.memory !== null) facts.push(`${bytes(trace.memory)} at most in use`);
    if (own.length > 1) facts.push(`${count(own.length)} threads`);
    if (trace.findings > 0) facts.push(several(trace.findings, "finding"));
    list.append(element("dt", {}, trace.path), element("dd", {}, facts.join(" · ")));
    if (trace.error) list.append(element("dt", {}, ""), element("dd", { class: "error" }, trace.error));
  });
  return list;
}
