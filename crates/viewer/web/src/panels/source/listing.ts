// The lines of a file with the cost of each next to it.

import { count, duration } from "../../format";
import { element } from "../../widgets/dom";
import { Lines } from "../../widgets/lines";
import { SourceLine, type LineCallee, type LineCalls, type LineEvals, type LinesFile } from "../../wire";

const LINE = 19;
/** Max number of callees listed next to a line; the rest is counted. */
const BESIDE = 2;

export class Listing {
  readonly host = element("div", { class: "listing" });
  private answer: LinesFile | null = null;
  private rows: (SourceLine | null)[] = [];
  private subs = new Map<number, LinesFile["subs"]>();
  private calls = new Map<number, LineCalls>();
  private evals = new Map<number, LineEvals>();
  private readonly lines = new Lines({
    label: "Source lines",
    height: LINE,
    line: (at) => this.line(at),
    choose: (at) => this.rows[at] && this.choose(this.rows[at][SourceLine.line]),
    open: (at) => this.enter(at),
  });

  constructor(
    private readonly openSub: (name: string) => void,
    private readonly choose: (line: number) => void,
  ) {
    const head = element("div", { class: "codeline head", "aria-hidden": "true" });
    for (const title of ["line", "stmts", "time", "calls", "in subs", "code"]) head.append(element("span", {}, title));
    this.host.append(head, this.lines.host);
  }

  show(answer: LinesFile): void {
    this.answer = answer;
    this.subs = new Map();
    for (const sub of answer.subs) {
      const line = sub[0] ?? 0;
      this.subs.set(line, [...(this.subs.get(line) ?? []), sub]);
    }
    this.calls = new Map(answer.calls.map((calls) => [calls[0], calls]));
    this.evals = new Map(answer.evals.map((evals) => [evals[0], evals]));
    this.rows = [];
    let next = 1;
    for (const line of answer.lines) {
      // Lines without data are shown as one gap.
      if (line[0] > next) this.rows.push(null);
      this.rows.push(line);
      next = line[0] + 1;
    }
    this.lines.active = -1;
    this.lines.setCount(this.rows.length);
  }

  refresh(): void {
    this.lines.refresh();
  }

  /** The subs that a line calls, with calls and time. */
  callsIn(line: number): LineCallee[] {
    return this.calls.get(line)?.[2] ?? [];
  }

  /** Scrolls to a line; without one, keeps the position. */
  reveal(line: number | undefined): void {
    const at = line === undefined ? -1 : this.rows.findIndex((row) => row?.[0] === line);
    if (at >= 0) this.lines.reveal(at, true);
    else this.lines.resume();
  }

  /** Enter opens the sub that starts here, or else the first callee. */
  private enter(at: number): void {
    const line = this.rows[at]?.[0];
    if (line === undefined) return;
    const name = this.subs.get(line)?.[0]?.[1] ?? this.calls.get(line)?.[2][0]?.[0];
    if (name !== undefined) this.openSub(name);
  }

  private line(at: number): HTMLElement {
    const row = this.rows[at];
    if (!row) return element("div", { class: "codeline gap" }, element("span", {}, "⋯"));
    const [line, statements, time, heat, calls, inSubs, subsHeat, text] = row;
    const most = Math.max(1, this.answer?.most_ns ?? 1);
    const spent = element("span", { class: `time ${heat ?? ""}` }, time === null ? "" : duration(time));
    spent.style.setProperty("--part", `${((100 * (time ?? 0)) / most).toFixed(1)}%`);
    const made = element("div", { class: `codeline ${heat ?? ""}` });
    made.append(
      element("span", { class: "line" }, String(line)),
      element("span", {}, statements === null ? "" : count(statements)),
      spent,
      element("span", {}, calls === null ? "" : count(calls)),
      element("span", { class: subsHeat ?? "" }, inSubs === null ? "" : duration(inSubs)),
      element(
        "span",
        { class: "text", title: text ?? "" },
        ...this.before(line),
        (text ?? "").replaceAll("\t", "    "),
        ...this.beside(line),
      ),
    );
    return made;
  }

  /** The subs that start at a line. */
  private before(line: number): HTMLElement[] {
    return (this.subs.get(line) ?? []).map(([, name, figures]) => {
      const told = figures.count > 0 ? `${count(figures.count)}× ${duration(figures.incl_ns)}` : "never called";
      return this.button(name, "sub", `${name}: ${told}`, `${name.split("::").pop() ?? name} ${told}`);
    });
  }

  /** The callees of a line. */
  private beside(line: number): HTMLElement[] {
    const [, all, named] = this.calls.get(line) ?? [line, 0, []];
    const shown = named
      .slice(0, BESIDE)
      .map(([name, calls, ns]) =>
        this.button(
          name,
          "callee",
          `calls ${name}: ${count(calls)} calls, ${duration(ns)}`,
          `→ ${name} ${duration(ns)}`,
        ),
      );
    if (all > shown.length) shown.push(element("small", { class: "note" }, `and ${count(all - shown.length)} more`));
    const [, evals, , time] = this.evals.get(line) ?? [line, 0, 0, 0];
    if (evals > 0) shown.push(element("small", { class: "note" }, `${count(evals)} string evals, ${duration(time)}`));
    return shown;
  }

  private button(name: string, kind: string, title: string, text: string): HTMLElement {
    // Not a button, because the line itself is one, and Enter on it opens the sub.
    const button = element("span", { class: `mini ${kind}`, title }, text);
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      this.openSub(name);
    });
    return button;
  }
}
