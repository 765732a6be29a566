// The log, however long: only the lines in sight are asked for.

import { ask } from "../api";
import { count, moment } from "../format";
import { panelState, rememberPanelState } from "../link";
import { store } from "../store";
import { levelColor } from "../theme";
import { lookAt, takesKeys } from "./jump";
import { Lines } from "./lines";
import { lineDetails, timeOfDay } from "./logline";
import { element, failure, type Panel } from "./panel";

export type LogRow = [number: number, ts: number | null, level: string, file: string | null, line: number | null, text: string, trace: number];

interface LogPart {
  /** Why there is no answer: what was typed is no expression yet. */
  problem?: string;
  /** Lines that the filter leaves, and all. */
  total: number;
  all: number;
  /** Where the time is that was asked for. */
  at: number | null;
  levels: [name: string, withText: number, all: number][];
  lines: (LogRow | null)[];
}

/** What decides which lines are shown. */
export interface LogFilter {
  text: string;
  regex: boolean;
  case: boolean;
  levels: string[];
  /** Only lines of one place in the source: a trace, the id of its definition, and what a person calls it. */
  site: { trace: number; id: number; name: string } | null;
}

const LINE = 19;
/** Lines that are asked for at once. */
const BLOCK = 200;
/** Blocks that are kept. */
const MOST_BLOCKS = 60;

class Log {
  readonly host = element("div", { class: "sheet log" });
  private readonly text = element("input", { type: "search", placeholder: "Text in the log", "aria-label": "Text in the log", spellcheck: "false" });
  private readonly regex = flag(".*", "Regular expression");
  private readonly case = flag("Aa", "Capitals differ from small letters");
  private readonly clock = flag("UTC", "Time of day instead of time since the start");
  private readonly site = element("button", { type: "button", class: "chip site", title: "Show the lines of all sites", hidden: "" });
  private readonly levels = element("span", { class: "chips", role: "group", "aria-label": "Levels" });
  private readonly counted = element("span", { class: "note", role: "status" });
  private readonly problem = element("span", { class: "error" });
  private readonly details = element("aside", { class: "aside", "aria-label": "The chosen line", hidden: "" });
  private readonly lines = new Lines({
    label: "Log lines",
    height: LINE,
    line: (at) => this.line(at),
    seen: (from, to) => this.want(from, to),
    choose: (at) => void this.choose(at),
    open: (at) => this.jump(at),
  });
  private filter: LogFilter;
  /** What the filter was made of: another panel may have left something new. */
  private adopted: unknown;
  private blocks = new Map<number, (LogRow | null)[]>();
  /** What was there before more lines came: shown until they are there. */
  private stale = new Map<number, (LogRow | null)[]>();
  private asked = new Set<number>();
  /** Grows with each filter, so that late answers are dropped. */
  private turn = 0;
  private known: { revision: number; moment: number | null } = { revision: -1, moment: null };
  private waiting = 0;
  private wished = -1;
  private counts: LogPart["levels"] = [];

  constructor() {
    this.adopted = panelState("log");
    this.filter = filterOf(this.adopted);
    this.showFilter();
    this.clock.hidden = store.state.traces.every((trace) => trace.unix_origin_ns === null);
    const tools = element("div", { class: "tools" }, this.text, this.regex, this.case, this.site, this.levels, this.clock, this.counted, this.problem);
    this.host.append(element("div", { class: "main" }, tools, this.lines.host), this.details);
    this.text.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = window.setTimeout(() => this.change({ text: this.text.value }), 120);
    });
    this.regex.addEventListener("click", () => this.change({ regex: flip(this.regex) }));
    this.case.addEventListener("click", () => this.change({ case: flip(this.case) }));
    this.site.addEventListener("click", () => {
      this.change({ site: null });
      this.showFilter();
      this.text.focus();
    });
    this.clock.addEventListener("click", () => {
      flip(this.clock);
      this.fitTimes();
      this.lines.refresh();
    });
    this.lines.host.addEventListener("copy", (event) => this.copy(event));
    store.on("theme", () => {
      this.showLevels(this.counts);
      this.lines.refresh();
    });
  }

  /** Follows the traces and the selection. */
  async update(): Promise<void> {
    this.lines.resume();
    await this.adopt();
    const [isNew, isFirst] = [this.known.revision !== store.state.revision, this.known.revision < 0];
    if (isNew) await this.load(!isFirst);
    await this.follow(isNew);
    if (takesKeys("log")) this.lines.host.focus();
  }

  /** Takes over the filter that another panel asked for. */
  private async adopt(): Promise<void> {
    const kept = panelState("log");
    if (kept === this.adopted) return;
    this.adopted = kept;
    this.filter = filterOf(kept);
    this.showFilter();
    this.details.hidden = true;
    this.lines.mark(-1);
    await this.load(false);
    if (this.known.moment === null) this.lines.begin(0);
  }

  private showFilter(): void {
    const { text, regex, case: hasCase, site } = this.filter;
    this.text.value = text;
    set(this.regex, regex);
    set(this.case, hasCase);
    this.site.hidden = site === null;
    this.site.replaceChildren(element("b", {}, "Site"), ` ${site?.name ?? ""} `, element("span", { "aria-hidden": "true" }, "×"));
  }

  private change(change: Partial<LogFilter>): void {
    this.filter = { ...this.filter, ...change };
    this.adopted = this.filter;
    rememberPanelState("log", this.filter);
    void this.load(false).catch((error: unknown) => (this.problem.textContent = failure(error).textContent));
  }

  private parameters(): Record<string, string | number | boolean | undefined> {
    const { text, regex, case: hasCase, levels, site } = this.filter;
    return { site: site ? `${site.trace}:${site.id}` : undefined, text: text || undefined, regex: regex || undefined, case: hasCase || undefined, levels: levels.join(",") || undefined };
  }

  /** Asks how much there is, and for the lines in sight. */
  private async load(isSame: boolean): Promise<void> {
    const turn = ++this.turn;
    this.known.revision = store.state.revision;
    const chosen = this.row(this.lines.active);
    const at = isSame ? undefined : Math.round(chosen?.[1] ?? this.moment() ?? store.view.from);
    let part: LogPart;
    try {
      part = await ask<LogPart>("log", { ...this.parameters(), take: 0, at });
    } catch (error) {
      if (turn === this.turn) this.problem.textContent = failure(error).textContent;
      return;
    }
    if (turn !== this.turn) return;
    this.problem.textContent = part.problem ?? "";
    if (part.problem !== undefined) return;
    this.stale = isSame ? this.blocks : new Map();
    this.blocks = new Map();
    this.asked.clear();
    this.counted.textContent = part.total === part.all ? `${count(part.all)} lines` : `${count(part.total)} of ${count(part.all)} lines`;
    this.showLevels(part.levels);
    this.fitTimes();
    this.lines.setCount(part.total);
    if (part.at === null || isSame) return;
    // Without a selection there is a place to begin, and no line to mark.
    if (chosen || this.moment() !== null) this.lines.reveal(part.at, true);
    else this.lines.begin(part.at);
  }

  /** All lines have as much room for their time as the longest needs. */
  private fitTimes(): void {
    const { from, to } = store.extent();
    const hasTimes = store.state.from_ns !== null;
    const longest = Math.max(moment(from).length, moment(to).length, this.isDay() ? 26 : 0);
    this.lines.host.style.setProperty("--when", hasTimes ? `${longest}ch` : "0px");
  }

  private isDay(): boolean {
    return this.clock.getAttribute("aria-pressed") === "true";
  }

  private showLevels(levels: LogPart["levels"]): void {
    this.counts = levels;
    const chips = [...levels].sort(([one], [other]) => badness(other) - badness(one)).map(([name, withText]) => {
      const isOn = this.filter.levels.includes(name);
      const chip = element("button", { type: "button", class: "chip", "aria-pressed": String(isOn), title: `Only ${name}; again for all` });
      chip.style.setProperty("--level", levelColor(name));
      chip.append(element("b", {}, name), ` ${count(withText)}`);
      chip.addEventListener("click", () => {
        const others = this.filter.levels.filter((level) => level !== name);
        this.change({ levels: isOn ? others : [...others, name] });
      });
      return chip;
    });
    const focused = [...this.levels.children].indexOf(document.activeElement as Element);
    this.levels.replaceChildren(...chips);
    chips[focused]?.focus();
  }

  /** Asks for the blocks of these lines that are not there yet. */
  private want(from: number, to: number): void {
    for (let block = Math.floor(from / BLOCK); block * BLOCK < to; block++) {
      if (this.blocks.has(block) || this.asked.has(block)) continue;
      this.asked.add(block);
      void this.fetch(block, this.turn);
    }
  }

  private async fetch(block: number, turn: number): Promise<void> {
    const part = await ask<LogPart>("log", { ...this.parameters(), skip: block * BLOCK, take: BLOCK }).catch(() => null);
    if (turn !== this.turn) return;
    this.asked.delete(block);
    if (!part) return;
    this.blocks.set(block, part.lines);
    const [oldest] = this.blocks.keys();
    if (this.blocks.size > MOST_BLOCKS && oldest !== undefined) this.blocks.delete(oldest);
    const [from, to] = this.lines.window();
    if (block * BLOCK < to && (block + 1) * BLOCK > from) this.lines.refresh();
    if (this.wished >= 0 && this.wished === this.lines.active) void this.choose(this.wished);
  }

  private row(at: number): LogRow | null {
    const block = Math.floor(at / BLOCK);
    return (this.blocks.get(block) ?? this.stale.get(block))?.[at % BLOCK] ?? null;
  }

  private line(at: number): HTMLElement {
    const row = this.row(at);
    if (!row) return element("div", { class: "logline" });
    const [, ts, level, file, number, text, trace] = row;
    const isDay = this.isDay();
    const origin = store.state.traces[trace]?.unix_origin_ns ?? null;
    const when = ts === null ? "" : isDay && origin !== null ? timeOfDay(ts - (store.state.traces[trace]?.offset_ns ?? 0), origin) : moment(ts);
    const { range } = store.selection;
    const made = element("div", { class: `logline ${range && ts !== null && ts >= range.from && ts <= range.to ? "inside" : ""}` });
    made.style.setProperty("--level", levelColor(level));
    if (badness(level) > 1) made.classList.add("bad");
    made.append(
      element("span", { class: "when" }, when),
      element("span", { class: "level" }, level),
      element("span", { class: "text" }, ...this.marked(text)),
      element("span", { class: "where" }, file ? `${file.split("/").pop() ?? file}${number === null ? "" : `:${number}`}` : ""),
    );
    return made;
  }

  /** A text with what was searched for marked. */
  private marked(text: string): (string | HTMLElement)[] {
    const wanted = this.filter.regex ? "" : this.filter.text;
    if (wanted === "") return [text];
    const [within, searched] = this.filter.case ? [text, wanted] : [text.toLowerCase(), wanted.toLowerCase()];
    // Some letters change their length with their case: what is marked would be something else.
    if (within.length !== text.length) return [text];
    const parts: (string | HTMLElement)[] = [];
    let begin = 0;
    for (let at = within.indexOf(searched); at >= 0; at = within.indexOf(searched, begin)) {
      parts.push(text.slice(begin, at), element("mark", {}, text.slice(at, at + searched.length)));
      begin = at + searched.length;
    }
    return [...parts, text.slice(begin)];
  }

  /** The time that the timeline has selected. */
  private moment(): number | null {
    const { span, event, range } = store.selection;
    return span?.ts_ns ?? event?.ts_ns ?? range?.from ?? null;
  }

  /** Marks the line nearest to what is selected in the timeline. */
  private async follow(isNew: boolean): Promise<void> {
    const at = this.moment();
    const isChanged = at !== this.known.moment;
    this.known.moment = at;
    if (at === null || !(isChanged || isNew)) {
      if (isChanged) this.lines.refresh();
      return;
    }
    const turn = this.turn;
    const part = await ask<LogPart>("log", { ...this.parameters(), take: 0, at: Math.round(at) });
    if (turn !== this.turn || part.at === null) return;
    this.lines.refresh();
    this.lines.reveal(part.at, true);
  }

  private async choose(at: number): Promise<void> {
    const row = this.row(at);
    // A line that is still on its way is told of when it is there.
    this.wished = row ? -1 : at;
    if (!row) return;
    this.details.hidden = false;
    if (row[1] !== null) this.look(row[1]);
    await lineDetails(row, this.details);
  }

  /** Moves the timeline to a time that is not in sight. */
  private look(ts: number): void {
    const { from, to } = store.view;
    if (ts < from || ts > to) lookAt(ts);
  }

  /** Goes so near to a line that its neighbours in the timeline can be told apart. */
  private jump(at: number): void {
    const ts = this.row(at)?.[1] ?? null;
    if (ts === null) return;
    const half = (store.view.to - store.view.from) / 20;
    store.look(ts - half, ts + half);
  }

  /** Without marked text, the chosen line is copied. */
  private copy(event: ClipboardEvent): void {
    const row = this.row(this.lines.active);
    if (!row || String(getSelection()) !== "") return;
    event.clipboardData?.setData("text/plain", row[5]);
    event.preventDefault();
  }
}

/** A filter from what was kept, which may be anything. */
function filterOf(kept: unknown): LogFilter {
  const known = kept as Partial<LogFilter> | undefined;
  const levels = Array.isArray(known?.levels) ? known.levels.filter((level) => typeof level === "string") : [];
  const site = known?.site ?? null;
  const isSite = site !== null && Number.isInteger(site.trace) && Number.isInteger(site.id) && typeof site.name === "string";
  return { text: String(known?.text ?? ""), regex: known?.regex === true, case: known?.case === true, levels, site: isSite ? site : null };
}

function flag(text: string, title: string): HTMLButtonElement {
  return element("button", { type: "button", class: "flag", title, "aria-label": title, "aria-pressed": "false" }, text);
}

function set(button: HTMLElement, isOn: boolean): void {
  button.setAttribute("aria-pressed", String(isOn));
}

function flip(button: HTMLElement): boolean {
  const isOn = button.getAttribute("aria-pressed") !== "true";
  set(button, isOn);
  return isOn;
}

/** Levels by how bad they are. */
function badness(level: string): number {
  if (/err|fatal|crit/i.test(level)) return 3;
  if (/warn/i.test(level)) return 2;
  return /debug|trace/i.test(level) ? 0 : 1;
}

let panel: Log | null = null;

export const log: Panel = {
  id: "log",
  title: "Log",
  isUseful: () => store.state.logs > 0,
  async show(host) {
    panel ??= new Log();
    host.append(panel.host);
    await panel.update();
  },
  update: () => panel?.update(),
};
