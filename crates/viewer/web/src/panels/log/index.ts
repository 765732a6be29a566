// The log of any length; only visible lines are requested.

import { ask } from "../../api";
import { count, seconds } from "../../format";
import { keepLink, look, lookAt, store, takesKeys, viewWidth } from "../../store";
import type { LogFilter } from "../../store/panels";
import { baseName, extent } from "../../store/state";
import { levelColor, levelRank } from "../../theme";
import { element, failure, searchField } from "../../widgets/dom";
import { Lines } from "../../widgets/lines";
import { LogRow, type LogAnswer, type LogRange } from "../../wire";
import { lasting, type Panel, type Watch } from "../panel";
import { filterOf, marks, queryOf } from "./filter";
import { LineDetails, timeOfDay } from "./line";

const LINE = 19;
/** Number of lines per request. */
const BLOCK = 200;
/** Max number of cached blocks. */
const MAX_BLOCKS = 60;

class Log {
  readonly host = element("div", { class: "sheet log" });
  private readonly text = searchField("Text in the log");
  private readonly regex = flag(".*", ".*: regular expression");
  private readonly case = flag("Aa", "Aa: match case");
  private readonly clock = flag("UTC", "UTC: time of day instead of time since the start");
  private readonly site = element("button", {
    type: "button",
    class: "chip site",
    title: "Show the lines of all sites",
    hidden: "",
  });
  private readonly levels = element("span", { class: "chips", role: "group", "aria-label": "Levels" });
  private readonly counted = element("span", { class: "note", role: "status" });
  private readonly problem = element("span", { class: "error" });
  private readonly details = new LineDetails();
  private readonly lines = new Lines({
    label: "Log lines",
    height: LINE,
    line: (at) => this.line(at),
    seen: (from, to) => this.want(from, to),
    choose: (at) => void this.choose(at),
    open: (at) => this.jump(at),
  });
  private filter: LogFilter = filterOf(store.state.links["log"]);
  /** The saved state that the filter was restored from; another panel may replace it. */
  private adopted: unknown = store.state.links["log"];
  private blocks = new Map<number, (LogRow | null)[]>();
  /** The previous lines, shown until the new ones arrive. */
  private stale = new Map<number, (LogRow | null)[]>();
  private asked = new Set<number>();
  /** Incremented with each filter, so that late answers are dropped. */
  private turn = 0;
  private known: { revision: number; moment: number | null } = { revision: -1, moment: null };
  private waiting = 0;
  private wished = -1;
  private counts: LogRange["levels"] = [];
  private wasDark = store.state.isDark;

  constructor() {
    this.showFilter();
    this.clock.hidden = store.state.server.traces.every((trace) => trace.unix_origin_ns === null);
    const tools = element(
      "div",
      { class: "tools" },
      this.text,
      this.regex,
      this.case,
      this.site,
      this.levels,
      this.clock,
      this.counted,
      this.problem,
    );
    this.host.append(element("div", { class: "main" }, tools, this.lines.host), this.details.host);
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
  }

  watch(watch: Watch): void {
    watch(
      ({ isDark }) => isDark,
      () => this.restyle(),
    );
    if (this.wasDark !== store.state.isDark) this.restyle();
  }

  private restyle(): void {
    this.wasDark = store.state.isDark;
    this.showLevels(this.counts);
    this.lines.refresh();
  }

  /** Follows the traces and the selection. */
  async update(): Promise<void> {
    this.lines.resume();
    await this.adopt();
    const [isNew, isFirst] = [this.known.revision !== store.state.server.revision, this.known.revision < 0];
    if (isNew) await this.load(!isFirst);
    await this.follow(isNew);
    if (takesKeys("log")) this.lines.host.focus();
  }

  /** Applies the filter that another panel requested. */
  private async adopt(): Promise<void> {
    const kept = store.state.links["log"];
    if (kept === this.adopted) return;
    this.adopted = kept;
    this.filter = filterOf(kept);
    this.showFilter();
    this.details.hide();
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
    this.site.replaceChildren(
      element("b", {}, "Site"),
      ` ${site?.name ?? ""} `,
      element("span", { "aria-hidden": "true" }, "×"),
    );
  }

  private change(change: Partial<LogFilter>): void {
    this.filter = { ...this.filter, ...change };
    this.adopted = this.filter;
    keepLink("log", this.filter);
    void this.load(false).catch((error: unknown) => (this.problem.textContent = failure(error).textContent));
  }

  /** Requests the number of lines, and the visible lines. */
  private async load(isSame: boolean): Promise<void> {
    const turn = ++this.turn;
    this.known.revision = store.state.server.revision;
    const chosen = this.row(this.lines.active);
    const at = isSame ? undefined : Math.round(chosen?.[LogRow.ts_ns] ?? this.moment() ?? store.state.view.from);
    let part: LogAnswer;
    try {
      part = await ask("log", { ...queryOf(this.filter), take: 0, at });
    } catch (error) {
      if (turn === this.turn) this.problem.textContent = failure(error).textContent;
      return;
    }
    if (turn !== this.turn) return;
    this.problem.textContent = "problem" in part ? part.problem : "";
    if ("problem" in part) return;
    this.stale = isSame ? this.blocks : new Map<number, (LogRow | null)[]>();
    this.blocks = new Map();
    this.asked.clear();
    const some = part.total === part.all ? "" : `${count(part.total)} of `;
    this.counted.textContent = `${some}${count(part.all)} lines`;
    this.showLevels(part.levels);
    this.fitTimes();
    this.lines.setCount(part.total);
    if (part.at === null || isSame) return;
    // Without a selection, there is a position to start at, but no line to mark.
    if (chosen || this.moment() !== null) this.lines.reveal(part.at, true);
    else this.lines.begin(part.at);
  }

  /** All lines reserve as much space for the time as the longest one needs. */
  private fitTimes(): void {
    const { from, to } = extent(store.state);
    const hasTimes = store.state.server.from_ns !== null;
    const longest = Math.max(seconds(from).length, seconds(to).length, this.isDay() ? 26 : 0);
    this.lines.host.style.setProperty("--when", hasTimes ? `${longest}ch` : "0px");
  }

  private isDay(): boolean {
    return this.clock.getAttribute("aria-pressed") === "true";
  }

  private showLevels(levels: LogRange["levels"]): void {
    this.counts = levels;
    const chips = [...levels]
      .sort(([one], [other]) => levelRank(other) - levelRank(one))
      .map(([name, withText]) => {
        const isOn = this.filter.levels.includes(name);
        const chip = element("button", {
          type: "button",
          class: "chip",
          "aria-pressed": String(isOn),
          title: `Show only ${name}; click again for all`,
        });
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

  /** Requests the missing blocks of these lines. */
  private want(from: number, to: number): void {
    for (let block = Math.floor(from / BLOCK); block * BLOCK < to; block++) {
      if (this.blocks.has(block) || this.asked.has(block)) continue;
      this.asked.add(block);
      void this.fetch(block, this.turn);
    }
  }

  private async fetch(block: number, turn: number): Promise<void> {
    const query = { ...queryOf(this.filter), skip: block * BLOCK, take: BLOCK };
    const part = await ask("log", query).catch(() => null);
    if (turn !== this.turn) return;
    this.asked.delete(block);
    if (!part || "problem" in part) return;
    this.blocks.set(block, part.lines);
    const [oldest] = this.blocks.keys();
    if (this.blocks.size > MAX_BLOCKS && oldest !== undefined) this.blocks.delete(oldest);
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
    const origin = store.state.server.traces[trace]?.unix_origin_ns ?? null;
    const when =
      ts === null
        ? ""
        : isDay && origin !== null
          ? timeOfDay(ts - (store.state.server.traces[trace]?.offset_ns ?? 0), origin)
          : seconds(ts);
    const { range } = store.state.selection;
    const made = element("div", {
      class: `logline ${range && ts !== null && ts >= range.from && ts <= range.to ? "inside" : ""}`,
    });
    made.style.setProperty("--level", levelColor(level));
    if (levelRank(level) > 1) made.classList.add("bad");
    made.append(
      element("span", { class: "when" }, when),
      element("span", { class: "level" }, level),
      element("span", { class: "text" }, ...this.marked(text)),
      element("span", { class: "where" }, file ? `${baseName(file)}${number === null ? "" : `:${number}`}` : ""),
    );
    return made;
  }

  /** A text with marked matches. */
  private marked(text: string): (string | HTMLElement)[] {
    return marks(text, this.filter).map((piece, at) => (at % 2 === 1 ? element("mark", {}, piece) : piece));
  }

  /** The selected time of the timeline. */
  private moment(): number | null {
    const { span, event, range } = store.state.selection;
    return span?.ts_ns ?? event?.ts_ns ?? range?.from ?? null;
  }

  /** Marks the line nearest to the selection in the timeline. */
  private async follow(isNew: boolean): Promise<void> {
    const at = this.moment();
    const isChanged = at !== this.known.moment;
    this.known.moment = at;
    if (at === null || !(isChanged || isNew)) {
      if (isChanged) this.lines.refresh();
      return;
    }
    const turn = this.turn;
    const part = await ask("log", { ...queryOf(this.filter), take: 0, at: Math.round(at) });
    if (turn !== this.turn || "problem" in part || part.at === null) return;
    this.lines.refresh();
    this.lines.reveal(part.at, true);
  }

  private async choose(at: number): Promise<void> {
    const row = this.row(at);
    // A line that is still being requested is announced when it arrives.
    this.wished = row ? -1 : at;
    if (!row) return;
    const ts = row[LogRow.ts_ns];
    if (ts !== null) this.look(ts);
    await this.details.show(row);
  }

  /** Moves the timeline to a time that is not visible. */
  private look(ts: number): void {
    const { from, to } = store.state.view;
    if (ts < from || ts > to) lookAt(ts);
  }

  /** Zooms in on a line so far that its neighbors in the timeline can be distinguished. */
  private jump(at: number): void {
    const ts = this.row(at)?.[LogRow.ts_ns] ?? null;
    if (ts === null) return;
    const half = viewWidth() / 20;
    look(ts - half, ts + half);
  }

  /** Copies the chosen line if no text is selected. */
  private copy(event: ClipboardEvent): void {
    const row = this.row(this.lines.active);
    if (!row || String(getSelection()) !== "") return;
    event.clipboardData?.setData("text/plain", row[LogRow.text]);
    event.preventDefault();
  }
}

function flag(text: string, title: string): HTMLButtonElement {
  return element(
    "button",
    { type: "button", class: "flag", title, "aria-label": title, "aria-pressed": "false" },
    text,
  );
}

function set(button: HTMLElement, isOn: boolean): void {
  button.setAttribute("aria-pressed", String(isOn));
}

function flip(button: HTMLElement): boolean {
  const isOn = button.getAttribute("aria-pressed") !== "true";
  set(button, isOn);
  return isOn;
}

export const log: Panel = {
  id: "log",
  title: "Log",
  isUseful: ({ server }) => server.logs > 0,
  create: () => lasting(() => new Log()),
};
