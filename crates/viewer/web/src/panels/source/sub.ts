// A sub with its callers and callees.

import { ask } from "../api";
import { count, duration } from "../format";
import { element, failure } from "./dom";
import type { Figures, SubAnswer } from "./sourcetypes";

export interface Ways {
  sub(name: string): void;
  place(file: number, line: number | undefined): void;
}

let latest = 0;

/** Fills an element with whom a line calls. */
export function lineCalls(line: number, called: [name: string, count: number, inclNs: number][], host: HTMLElement, open: (name: string) => void): void {
  latest += 1;
  const rows = called.map(([name, count, ns]) => ({ name, figures: { count, incl_ns: ns } }));
  host.replaceChildren(element("h4", {}, `Line ${line} calls`), calls(rows.length, rows, (row) => [link(row.name, () => open(row.name))]));
}

/** Fills an element with a sub. */
export async function subDetails(trace: number, name: string, host: HTMLElement, ways: Ways): Promise<void> {
  const turn = ++latest;
  try {
    const sub = await ask<SubAnswer>("source/sub", { trace, name });
    if (turn === latest) fill(host, sub, ways);
  } catch (error) {
    if (turn === latest) host.replaceChildren(element("h4", {}, name), failure(error));
  }
}

function fill(host: HTMLElement, sub: SubAnswer, ways: Ways): void {
  const { figures } = sub;
  const facts: [string, string][] = [
    ["own time", duration(figures.excl_ns)],
    ["total time", duration(figures.incl_ns)],
    ["calls", `${count(figures.count)} from ${count(sub.places)} places`],
    ["each", figures.count > 1 && figures.depth === 0 ? duration(figures.incl_ns / figures.count) : ""],
    ["recursive", figures.depth > 0 ? `to depth ${figures.depth} for ${duration(figures.recursive_ns)}` : ""],
    ["kind", sub.kind === "perl" ? "" : sub.kind],
  ];
  const list = element("dl");
  for (const [key, value] of facts.filter(([, value]) => value !== "")) list.append(element("dt", {}, key), element("dd", {}, value));
  const parts: HTMLElement[] = [element("h4", {}, sub.name), list];
  if (sub.file !== null && sub.line !== null) {
    const { file, line } = sub;
    const where = link(`${sub.file_name ?? ""}:${line}`, () => ways.place(file, line));
    parts.splice(1, 0, where);
  }
  parts.push(element("h4", {}, "Called by"), calls(sub.all_callers, sub.callers, (caller) => {
    const { file, line } = caller;
    const shown: HTMLElement[] = [caller.by === null ? element("span", {}, "(unknown)") : link(caller.by, () => caller.by !== null && ways.sub(caller.by))];
    if (file !== null) shown.push(link(`${caller.name?.split("/").pop() ?? ""}${line === null ? "" : `:${line}`}`, () => ways.place(file, line ?? undefined)));
    return shown;
  }));
  parts.push(element("h4", {}, "Calls"), calls(sub.all_callees, sub.callees, (callee) => [link(callee.name, () => ways.sub(callee.name))]));
  host.replaceChildren(...parts);
}

function calls<T extends { figures: Pick<Figures, "count" | "incl_ns"> }>(all: number, rows: T[], shown: (row: T) => HTMLElement[]): HTMLElement {
  if (rows.length === 0) return element("p", { class: "note" }, "nobody");
  const most = Math.max(1, ...rows.map((row) => row.figures.incl_ns));
  const list = element("ul", { class: "calls" });
  for (const row of rows) {
    const { figures } = row;
    const told = element("small", {}, `${count(figures.count)}× ${duration(figures.incl_ns)}`);
    const item = element("li", {}, element("span", {}, ...shown(row)), told);
    item.style.setProperty("--part", `${((100 * figures.incl_ns) / most).toFixed(1)}%`);
    list.append(item);
  }
  if (all > rows.length) list.append(element("li", { class: "note" }, `and ${count(all - rows.length)} more`));
  return list;
}

function link(text: string, run: () => void): HTMLElement {
  const button = element("button", { type: "button", class: "link", title: text }, text);
  button.addEventListener("click", run);
  return button;
}
