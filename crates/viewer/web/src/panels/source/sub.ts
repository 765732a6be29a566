// A sub with its callers and callees, next to the source.

import { ask } from "../../api";
import { count, duration } from "../../format";
import { baseName } from "../../store/state";
import { element, facts, failure } from "../../widgets/dom";
import type { Figures, LineCallee, SubDetails } from "../../wire";

/** The targets of clicks. */
export interface Ways {
  sub(name: string): void;
  place(file: number, line: number | undefined): void;
}

export class CallsBeside {
  readonly host = element("aside", { class: "aside", "aria-label": "Callers and callees", hidden: "" });
  private latest = 0;

  get isHidden(): boolean {
    return this.host.hidden;
  }

  /** Shows the callees of a line. */
  showLine(line: number, called: LineCallee[], ways: Ways): void {
    this.latest += 1;
    this.host.hidden = false;
    const rows = called.map(([name, count, incl_ns]) => ({ name, figures: { count, incl_ns } }));
    const list = calls(rows.length, rows, (row) => [link(row.name, () => ways.sub(row.name))]);
    this.host.replaceChildren(element("h2", {}, `Line ${line} calls`), list);
  }

  /** Shows a sub. */
  async showSub(trace: number, name: string, ways: Ways): Promise<void> {
    const turn = ++this.latest;
    this.host.hidden = false;
    try {
      const sub = await ask("source/sub", { trace, name });
      if (turn === this.latest) this.host.replaceChildren(...described(sub, ways));
    } catch (error) {
      if (turn === this.latest) this.host.replaceChildren(element("h2", {}, name), failure(error));
    }
  }
}

function described(sub: SubDetails, ways: Ways): HTMLElement[] {
  const { figures } = sub;
  const rows: [string, string][] = [
    ["self time", duration(figures.excl_ns)],
    ["total time", duration(figures.incl_ns)],
    ["calls", `${count(figures.count)} from ${count(sub.places)} places`],
    ["each", figures.count > 1 && figures.depth === 0 ? duration(figures.incl_ns / figures.count) : ""],
    ["recursive", figures.depth > 0 ? `to depth ${figures.depth} for ${duration(figures.recursive_ns)}` : ""],
    ["kind", sub.kind === "perl" ? "" : sub.kind],
  ];
  return [
    element("h2", {}, sub.name),
    ...written(sub, ways),
    facts(rows),
    element("h2", {}, "Called by"),
    calls(sub.all_callers, sub.callers, (caller) => calledBy(caller, ways)),
    element("h2", {}, "Calls"),
    calls(sub.all_callees, sub.callees, (callee) => [link(callee.name, () => ways.sub(callee.name))]),
  ];
}

/** The location of a sub. */
function written({ file, line, file_name }: SubDetails, ways: Ways): HTMLElement[] {
  return file === null || line === null ? [] : [link(`${file_name ?? ""}:${line}`, () => ways.place(file, line))];
}

function calledBy({ by, file, name, line }: SubDetails["callers"][number], ways: Ways): HTMLElement[] {
  const shown: HTMLElement[] = [by === null ? element("span", {}, "(unknown)") : link(by, () => ways.sub(by))];
  if (file !== null) {
    const where = `${baseName(name ?? "")}${line === null ? "" : `:${line}`}`;
    shown.push(link(where, () => ways.place(file, line ?? undefined)));
  }
  return shown;
}

function calls<T extends { figures: Pick<Figures, "count" | "incl_ns"> }>(
  all: number,
  rows: T[],
  shown: (row: T) => HTMLElement[],
): HTMLElement {
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
