// What is wrong with the traces, and what is worth a look in them, in plain words.

import { ask } from "../api";
import { bytes, count, duration } from "../format";
import { store } from "../store";
import { lookAt, openPanelWith, selectName, showRow, when } from "./jump";
import { element, failure, note, type Panel } from "./panel";

interface FindingRow {
  code: string;
  severity: "note" | "warning" | "error";
  position: number | null;
  message: string;
  meaning: string | null;
}

interface FindingsAnswer {
  failed: { trace: number; error: string }[];
  traces: { trace: number; rows: FindingRow[]; counts: Record<string, number> }[];
}

interface Evidence {
  what: string;
  ts_ns: number | null;
  value: number;
  unit: string;
}

interface Advice {
  rule: string;
  weight: "high" | "medium" | "low";
  subject: string;
  value: number;
  limit: number;
  unit: string;
  count: number;
  evidence: Evidence[];
  query: string;
}

interface AdviceAnswer {
  traces: { trace: number; advice: Advice[] }[];
}

/** Findings of one code that are shown before somebody asks for more. */
const FIRST = 5;

class Findings {
  readonly host = element("div", { class: "findings" });
  private readonly wrong = element("section", { "aria-label": "What is wrong with the file" });
  private readonly advice = element("section", { "aria-label": "Worth a look" });
  private asked = "";

  constructor() {
    this.host.append(this.advice, this.wrong);
  }

  /** Asks again when there is another trace. */
  async update(): Promise<void> {
    const asked = store.state.traces.map((trace) => [trace.state, trace.offset_ns]).join(";");
    if (asked === this.asked) return;
    this.asked = asked;
    if (this.wrong.childElementCount === 0) this.wrong.append(note("Reading …"));
    // Nothing is wrong with what nobody has read yet.
    if (store.state.traces.every((trace) => trace.state === "loading")) return;
    const parts = [
      this.fill(this.wrong, ask<FindingsAnswer>("findings"), (answer) => this.showFindings(answer)),
      this.fill(this.advice, ask<AdviceAnswer>("advice"), (answer) => this.showAdvice(answer)),
    ];
    await Promise.all(parts);
  }

  private async fill<T>(part: HTMLElement, question: Promise<T>, show: (answer: T) => HTMLElement[]): Promise<void> {
    const { asked } = this;
    try {
      const answer = await question;
      if (asked === this.asked) part.replaceChildren(...show(answer));
    } catch (error) {
      if (asked === this.asked) part.replaceChildren(failure(error));
    }
  }

  private showFindings({ failed, traces }: FindingsAnswer): HTMLElement[] {
    const cards = failed.map(({ trace, error }) => card("error", `${nameOf(trace)} cannot be read`, [element("p", {}, error)]));
    for (const { trace, rows, counts } of traces) {
      const codes = new Map<string, FindingRow[]>();
      for (const row of rows) codes.set(row.code, [...(codes.get(row.code) ?? []), row]);
      const worst = [...codes.values()].sort(([one], [other]) => rank(other?.severity) - rank(one?.severity));
      cards.push(...worst.map((group) => finding(trace, group, counts[group[0]?.code ?? ""] ?? group.length)));
    }
    const title = element("h3", {}, "What is wrong with the file");
    return cards.length > 0 ? [title, ...cards] : [title, note("Nothing: every record could be read as it should be.")];
  }

  private showAdvice({ traces }: AdviceAnswer): HTMLElement[] {
    const all = traces.flatMap(({ trace, advice }) => advice.map((one) => adviceCard(trace, one)));
    const title = element("h3", {}, "Worth a look");
    return all.length > 0 ? [title, ...all] : [title, note("Nothing stands out: no span takes long, no name has most of the time, nothing grows without end.")];
  }
}

function nameOf(trace: number): string {
  return store.state.traces[trace]?.path.split("/").pop() ?? "";
}

/** The name of a trace, where there are several. */
function ofTrace(trace: number): HTMLElement[] {
  return store.state.traces.length > 1 ? [element("span", { class: "note" }, nameOf(trace))] : [];
}

function rank(severity: string | undefined): number {
  return ["note", "warning", "error"].indexOf(severity ?? "");
}

function card(level: string, title: string, children: HTMLElement[], ...heads: HTMLElement[]): HTMLElement {
  const head = element("header", {}, element("span", { class: "badge" }, level), element("b", {}, title), ...heads);
  return element("article", { class: `item is-${level}` }, head, ...children);
}

function finding(trace: number, rows: FindingRow[], all: number): HTMLElement {
  const [first] = rows;
  if (!first) return note("");
  const places = element("ul", { class: "places" });
  const show = (most: number): void => {
    const shown = rows.slice(0, most).map((row) => element("li", {}, element("code", {}, row.position === null ? "" : `byte ${count(row.position)}`), row.message));
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
  const severe = { error: "The original tool refuses the file for this.", warning: "", note: "" }[first.severity];
  const meaning = element("p", {}, ...marked(first.meaning ?? ""), severe && first.meaning === null ? severe : "");
  return card(first.severity, titleOf(first.code), [meaning, places], ...times, ...ofTrace(trace), element("code", { class: "note" }, first.code));
}

/** `count-mismatch` is read as words. */
function titleOf(code: string): string {
  const words = (code.split(".").pop() ?? code).replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What stands in backquotes is code. */
function marked(text: string): (string | HTMLElement)[] {
  return text.split("`").map((part, number) => (number % 2 === 1 ? element("code", {}, part) : part));
}

function amount(value: number, unit: string): string {
  switch (unit) {
    case "bytes":
      return bytes(Math.max(0, Math.round(value)));
    case "count":
      return count(Math.round(value));
    case "ns":
      return duration(value);
    case "part":
      return `${(value * 100).toFixed(1)} %`;
    case "times":
      return `${value.toFixed(1)} times`;
    default:
      return String(value);
  }
}

function sentence(advice: Advice): string {
  const { subject } = advice;
  const [value, limit, of] = [amount(advice.value, advice.unit), amount(advice.limit, advice.unit), count(advice.count)];
  switch (advice.rule) {
    case "long-span":
      return `${subject} takes up to ${value}; ${of} took longer than ${limit}`;
    case "hot-name":
      return `${value} of the trace is spent in ${subject} itself`;
    case "frame-spike":
      return `${of} frames of ${subject} take more than ${limit} as long as the median, the longest ${value}`;
    case "growth":
      return `${subject} grows by ${value} and never falls`;
    case "log-storm":
      return `“${subject}” is logged ${value} times in one second, ${of} times in all`;
    case "many-switches":
      return `${subject} was taken off the processor ${value} times`;
    default:
      return `${subject} is busy ${value} as long as the least busy of ${of} threads`;
  }
}

/** What to do about it. */
const HELP: Record<string, string> = {
  "long-span": "A user notices what takes longer than a tenth of a second. Look at what it does inside, or do it elsewhere.",
  "hot-name": "Own time is time that no callee accounts for: making this faster makes the whole faster.",
  "frame-spike": "A frame that takes much longer than the others is seen as a stutter. Compare it with a usual one.",
  growth: "The lowest value of each window lies above the one before: nothing was given back. It is a leak, or a cache without a bound.",
  "log-storm": "Logging this often costs time and hides what matters. Log less often, or count instead.",
  "many-switches": "The thread is interrupted or waits very often: look for locks, short sleeps, or too many threads.",
  "unbalanced-threads": "Work could move from the busiest thread to the others.",
};

function adviceCard(trace: number, advice: Advice): HTMLElement {
  const facts = element("ul", { class: "places" });
  for (const evidence of advice.evidence) facts.append(element("li", {}, fact(trace, advice, evidence)));
  const tools = element("div", { class: "tools" });
  if (["long-span", "hot-name", "frame-spike"].includes(advice.rule) && store.names.includes(advice.subject)) {
    tools.append(button("Highlight", "Highlight all spans of this name in the timeline", () => selectName(advice.subject)));
  }
  if (advice.rule === "growth" && advice.subject === "memory in use") {
    tools.append(button("Memory", "What was never freed", () => openPanelWith("memory", { trace, list: "leaks" })));
  }
  if (advice.rule === "log-storm") tools.append(button("Log", "These lines", () => openPanelWith("log", { text: longestPart(advice.subject) })));
  if (store.state.sql) tools.append(button("SQL", advice.query, () => openPanelWith("sql", { text: advice.query, run: true })));
  const help = HELP[advice.rule];
  return card(advice.weight, sentence(advice), [...(help ? [element("p", {}, help)] : []), facts, tools], ...ofTrace(trace), element("code", { class: "note" }, advice.rule));
}

/** A format has holes where the log has values: its longest part finds the lines. */
function longestPart(format: string): string {
  const parts = format.split(/%[-+ #0-9.*hlLqjzt]*[a-zA-Z%]/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "").trim();
}

function fact(trace: number, advice: Advice, evidence: Evidence): HTMLElement {
  const { ts_ns: ts, value, unit, what } = evidence;
  const text = `${amount(value, unit)} ${what}${ts === null ? "" : ` at ${when(ts)}`}`;
  if (ts === null) return element("span", {}, text);
  const isSpan = advice.rule === "long-span" || advice.rule === "frame-spike";
  const show = (): void => {
    // Frames may go by their numbers: their kind is no name.
    const name = advice.subject === "frame" ? undefined : advice.subject;
    if (isSpan) void showRow({ ts, trace_id: store.state.traces[trace]?.trace_id, dur: value, name });
    else lookAt(ts);
  };
  return button(text, "Show it in the timeline", show, "link");
}

function button(text: string, title: string, run: () => void, kind = ""): HTMLElement {
  const made = element("button", { type: "button", title, class: kind }, text);
  made.addEventListener("click", run);
  return made;
}

let panel: Findings | null = null;

export const findings: Panel = {
  id: "findings",
  title: "Findings",
  isUseful: () => store.state.traces.length > 0,
  async show(host) {
    panel ??= new Findings();
    host.append(panel.host);
    await panel.update();
  },
  update: () => panel?.update(),
};
