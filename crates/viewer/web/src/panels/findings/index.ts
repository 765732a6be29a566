// Problems of the files and advice about the traces, in plain words.

import { ask } from "../../api";
import { count } from "../../format";
import { callPanel, lookAt, selectName, store } from "../../store";
import { baseName, openTraces } from "../../store/state";
import { element, failure, note } from "../../widgets/dom";
import { showRow, when } from "../../widgets/jump";
import type { Advice, AdviceAnswer, Evidence, Finding, FindingsAnswer } from "../../wire";
import { lasting, type Panel } from "../panel";
import { amount, HELP, longestPart, rank, titleOf } from "./words";

/** Number of findings per code that are initially shown. */
const FIRST = 5;

class Findings {
  readonly host = element("div", { class: "findings" });
  private readonly wrong = element("section", { "aria-label": "Problems in the file" });
  private readonly advice = element("section", { "aria-label": "Worth a look" });
  private readonly waiting = note("Looking for problems …");
  private asked = "";

  constructor() {
    this.host.append(this.advice, this.wrong);
  }

  /** Requests the findings again when there is another trace. */
  async update(): Promise<void> {
    const asked = store.state.server.traces.map((trace) => [trace.state, trace.offset_ns]).join(";");
    if (asked === this.asked) return;
    this.asked = asked;
    if (this.wrong.childElementCount === 0) this.host.prepend(this.waiting);
    // A trace that is still loading has no findings yet.
    if (store.state.server.traces.every((trace) => trace.state === "loading")) return;
    const [findings, advice] = await Promise.allSettled([ask("findings", {}), ask("advice", {})]);
    if (asked !== this.asked) return;
    // Both at once, because a column that is filled later would move the other.
    this.waiting.remove();
    this.wrong.replaceChildren(...shown(findings, (answer) => this.showFindings(answer)));
    this.advice.replaceChildren(...shown(advice, (answer) => this.showAdvice(answer)));
  }

  private showFindings({ failed, traces }: FindingsAnswer): HTMLElement[] {
    const cards = failed.map(({ trace, error }) =>
      card("error", `${nameOf(trace)} cannot be read`, [element("p", {}, error)]),
    );
    for (const { trace, rows, counts } of traces) {
      const codes = new Map<string, Finding[]>();
      for (const row of rows) codes.set(row.code, [...(codes.get(row.code) ?? []), row]);
      const worst = [...codes.values()].sort(
        ([one], [other]) => rank(other?.severity ?? "") - rank(one?.severity ?? ""),
      );
      cards.push(...worst.map((group) => finding(trace, group, counts[group[0]?.code ?? ""] ?? group.length)));
    }
    const title = element("h2", {}, "Problems in the file");
    return cards.length > 0 ? [title, ...cards] : [title, note("No problems found.")];
  }

  private showAdvice({ traces }: AdviceAnswer): HTMLElement[] {
    const all = traces.flatMap(({ trace, advice }) => advice.map((one) => adviceCard(trace, one)));
    const title = element("h2", {}, "Worth a look");
    return all.length > 0 ? [title, ...all] : [title, note("No problems found.")];
  }
}

/** An answer, or an error. */
function shown<T>(settled: PromiseSettledResult<T>, show: (answer: T) => HTMLElement[]): HTMLElement[] {
  return settled.status === "fulfilled" ? show(settled.value) : [failure(settled.reason)];
}

function nameOf(trace: number): string {
  return baseName(store.state.server.traces[trace]?.path ?? "");
}

/** The name of a trace, if there are several. */
function ofTrace(trace: number): HTMLElement[] {
  return store.state.server.traces.length > 1 ? [element("span", { class: "note" }, nameOf(trace))] : [];
}

function card(level: string, title: string, children: HTMLElement[], ...heads: HTMLElement[]): HTMLElement {
  const head = element("header", {}, element("span", { class: "badge" }, level), element("b", {}, title), ...heads);
  return element("article", { class: `item is-${level}` }, head, ...children);
}

function finding(trace: number, rows: Finding[], all: number): HTMLElement {
  const [first] = rows;
  if (!first) return note("");
  const places = element("ul", { class: "places" });
  const show = (most: number): void => {
    const shown = rows
      .slice(0, most)
      .map((row) =>
        element("li", {}, element("code", {}, row.position === null ? "" : `byte ${count(row.position)}`), row.message),
      );
    const more = all - shown.length;
    if (more > 0 && rows.length > shown.length) {
      const button = element("button", { type: "button", class: "link" }, `and ${count(more)} more`);
      button.addEventListener("click", () => show(rows.length));
      shown.push(element("li", {}, button));
    } else if (more > 0) shown.push(element("li", { class: "note" }, `and ${count(more)} more of the same kind`));
    places.replaceChildren(...shown);
  };
  show(FIRST);
  const times = all > 1 ? [element("span", { class: "note" }, `${count(all)} times`)] : [];
  const meaning = element("p", {}, ...marked(first.meaning ?? (first.severity === "error" ? REFUSED : "")));
  return card(
    first.severity,
    titleOf(first.code),
    [meaning, places],
    ...times,
    ...ofTrace(trace),
    element("code", { class: "note" }, first.code),
  );
}

const REFUSED = "The format's own tool rejects the file because of this.";

/** Text in backquotes is code. */
function marked(text: string): (string | HTMLElement)[] {
  return text.split("`").map((part, number) => (number % 2 === 1 ? element("code", {}, part) : part));
}

function adviceCard(trace: number, advice: Advice): HTMLElement {
  const facts = element("ul", { class: "places" });
  for (const evidence of advice.evidence) facts.append(element("li", {}, fact(trace, advice, evidence)));
  const tools = element("div", { class: "tools" });
  if (store.state.names.number(advice.subject) !== undefined) {
    tools.append(
      button("Highlight", "Highlight all spans of this name in the timeline", () => selectName(advice.subject)),
    );
  }
  if (advice.rule === "leak" || advice.rule === "churn") {
    tools.append(button("Memory", "Never freed", () => callPanel("memory", { trace, list: "leaks" })));
  }
  if (advice.rule === "log-storm" || advice.rule === "error-burst")
    tools.append(button("Log", "These lines", () => callPanel("log", { text: longestPart(advice.subject) })));
  if (store.state.server.sql)
    tools.append(button("SQL", advice.query, () => callPanel("sql", { text: advice.query, run: true })));
  const help = HELP[advice.rule];
  return card(
    advice.weight,
    advice.message,
    [...(help ? [element("p", {}, help)] : []), facts, tools],
    ...ofTrace(trace),
    element("code", { class: "note" }, advice.rule),
  );
}

function fact(trace: number, advice: Advice, evidence: Evidence): HTMLElement {
  const { ts_ns: ts, value, unit, what } = evidence;
  const text = `${amount(value, unit)} ${what}${ts === null ? "" : ` at ${when(ts)}`}`;
  if (ts === null) return element("span", {}, text);
  const show = (): void => {
    if (advice.rule !== "frame-spike") lookAt(ts);
    else void showRow({ ts, trace_id: store.state.server.traces[trace]?.trace_id, dur: value });
  };
  return button(text, "Show it in the timeline", show, "link");
}

function button(text: string, title: string, run: () => void, kind = ""): HTMLElement {
  const made = element("button", { type: "button", title, class: kind }, text);
  made.addEventListener("click", run);
  return made;
}

export const findings: Panel = {
  id: "findings",
  title: "Findings",
  isUseful: ({ server }) => server.traces.length > 0,
  badge: (state) => {
    const problems = openTraces(state).reduce((sum, trace) => sum + trace.findings, 0);
    return problems > 0 ? count(problems) : "";
  },
  create: () => lasting(() => new Findings()),
};
