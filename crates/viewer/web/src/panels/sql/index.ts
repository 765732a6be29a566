// Questions in SQL; rows that have a time lead to the timeline.

import { askWith } from "../api";
import { count, duration } from "../format";
import { panelState, rememberPanelState } from "../link";
import { store } from "../store";
import { selectName, showRow } from "./jump";
import { element, failure, note, table, type Column, type Panel } from "./panel";
import { Schema } from "./sqlschema";

interface Rows {
  columns: [name: string, isNumber: boolean][];
  rows: (string | null)[][];
  is_cut: boolean;
  is_stopped: boolean;
  elapsed_ms: number;
}

interface Problem {
  message: string;
  place: [line: number, column: number, endColumn: number] | null;
  help: string[];
}

/** Another panel may ask for a question to be run. */
interface Kept {
  text?: unknown;
  run?: unknown;
}

const HISTORY = "traceloom-sql";
const MOST_KEPT = 50;

class Sql {
  readonly host = element("div", { class: "sheet sql" });
  private readonly text = element("textarea", { "aria-label": "Question in SQL", spellcheck: "false", rows: "4", placeholder: "select name, count(*) from spans group by name" });
  private readonly runs = element("button", { type: "button", class: "primary", title: "Ctrl+Enter" }, "Run");
  private readonly stops = element("button", { type: "button", title: "Escape" }, "Stop");
  private readonly past = element("select", { "aria-label": "History", title: "Questions of this session" });
  private readonly status = element("span", { class: "note", role: "status" });
  private readonly answer = element("div", { class: "scroll" });
  private readonly schema = new Schema((name) => this.insert(name), (sql) => this.put(sql));
  private running: AbortController | null = null;
  private linked: unknown;

  constructor() {
    this.stops.disabled = true;
    const tools = element("div", { class: "tools" }, this.runs, this.stops, this.schema.examples, this.past, this.status);
    this.host.append(element("div", { class: "main" }, this.text, tools, this.answer), this.schema.host);
    this.runs.addEventListener("click", () => void this.run());
    this.stops.addEventListener("click", () => this.running?.abort());
    this.past.addEventListener("change", () => this.past.value !== "" && this.put(this.past.value, false));
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.text.addEventListener("input", () => this.remember());
    this.answer.append(note("A question is run with Ctrl+Enter. A row with ts_ns shows its time in the timeline when it is clicked."));
    this.showHistory();
  }

  /** Follows the traces, and questions from other panels. */
  async update(): Promise<void> {
    const linked = panelState<Kept>("sql");
    if (linked !== this.linked) {
      this.linked = linked;
      if (typeof linked?.text === "string") this.text.value = linked.text;
      if (linked?.run === true) {
        this.remember();
        void this.run();
      }
    }
    await this.schema.update();
    if (this.text.value === "") this.text.value = this.schema.first;
  }

  private remember(): void {
    this.linked = { text: this.text.value };
    rememberPanelState("sql", this.linked);
  }

  /** Puts a question into the box, and runs it. */
  private put(sql: string, isRun = true): void {
    this.text.value = sql;
    this.remember();
    this.text.focus();
    if (isRun) void this.run();
  }

  private insert(name: string): void {
    const { selectionStart: from, selectionEnd: to, value } = this.text;
    const space = from > 0 && !/[\s(.]$/.test(value.slice(0, from)) ? " " : "";
    this.text.setRangeText(space + name, from, to, "end");
    this.text.focus();
    this.remember();
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void this.run();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (this.running) this.running.abort();
      else this.text.blur();
    }
  }

  private async run(): Promise<void> {
    const sql = this.text.value.trim();
    if (sql === "") return;
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    this.stops.disabled = false;
    this.status.textContent = "Running …";
    this.keepInHistory(sql);
    try {
      const answer = await askWith<Rows | { problem: Problem }>("sql", { sql: this.text.value }, own.signal);
      if (this.running === own) this.showAnswer(answer);
    } catch (error) {
      if (this.running !== own) return;
      this.status.textContent = own.signal.aborted ? "Stopped" : "";
      if (!own.signal.aborted) this.answer.replaceChildren(failure(error));
    } finally {
      if (this.running === own) {
        this.running = null;
        this.stops.disabled = true;
      }
    }
  }

  private showAnswer(answer: Rows | { problem: Problem }): void {
    if ("problem" in answer) {
      this.status.textContent = "";
      return this.answer.replaceChildren(this.problem(answer.problem));
    }
    if (answer.is_stopped) return void (this.status.textContent = "Stopped: another question was asked");
    const rows = `${count(answer.rows.length)} ${answer.rows.length === 1 ? "row" : "rows"}`;
    const cut = answer.is_cut ? `; there are more, the first ${rows} are shown` : "";
    this.status.textContent = `${answer.is_cut ? "" : `${rows} `}in ${duration(answer.elapsed_ms * 1e6)}${cut}`;
    this.answer.replaceChildren(answer.rows.length > 0 ? this.grid(answer) : note("No row."));
  }

  private grid({ columns, rows }: Rows): HTMLElement {
    const made = columns.map(([title, isNumber], at): Column<(string | null)[]> => {
      const text = (row: (string | null)[]): string => row[at] ?? "NULL";
      return isNumber ? { title, text, value: (row) => (row[at] === null ? NaN : Number(row[at])) } : { title, text };
    });
    const at = (name: string): number => columns.findIndex(([title]) => title.toLowerCase() === name);
    const [time, name] = [at("ts_ns"), at("name")];
    const leads = time >= 0 || name >= 0;
    let chosen: (string | null)[] | null = null;
    const choose = (row: (string | null)[]): void => {
      chosen = row;
      this.jump(row, at);
    };
    const grid = table(made, rows, leads ? choose : undefined, { name: "query", isChosen: (row) => row === chosen });
    grid.classList.add("exact");
    return grid;
  }

  /** Shows the span that a row means, or its time, or its name. */
  private jump(row: (string | null)[], at: (name: string) => number): void {
    const cell = (name: string): string | undefined => row[at(name)] ?? undefined;
    const ts = Number(cell("ts_ns") ?? NaN);
    if (Number.isFinite(ts)) {
      const dur = Number(cell("dur_ns") ?? NaN);
      const hints = { trace_id: cell("trace_id"), thread_id: cell("thread_id"), id: cell("id"), name: cell("name") };
      void showRow({ ts, ...hints, dur: Number.isFinite(dur) ? dur : undefined });
    } else selectName(cell("name") ?? "");
  }

  /** The message, the line with the place marked, and what was probably meant. */
  private problem({ message, place, help }: Problem): HTMLElement {
    const host = element("div", { class: "problem" }, element("p", { class: "error" }, message));
    const line = place ? this.text.value.split("\n")[place[0] - 1] : undefined;
    if (place && line !== undefined) {
      const letters = [...line];
      const [from, to] = [place[1] - 1, Math.max(place[2] - 1, place[1])];
      const mark = element("mark", {}, letters.slice(from, to).join("") || " ");
      const shown = element("pre", {}, element("span", { class: "note" }, `${place[0]} | `), letters.slice(0, from).join(""), mark, letters.slice(to).join(""));
      host.append(shown);
      this.markPlace(place);
    }
    for (const text of help) host.append(this.help(text, place));
    return host;
  }

  /** A name that was probably meant is put in by a click. */
  private help(text: string, place: Problem["place"]): HTMLElement {
    const meant = /^did you mean `(.+)`\?$/.exec(text)?.[1];
    if (meant === undefined || !place) return element("p", {}, text);
    const button = element("button", { type: "button", title: "Put it in and run" }, meant);
    button.addEventListener("click", () => {
      const [from, to] = this.offsets(place);
      this.put(this.text.value.slice(0, from) + meant + this.text.value.slice(to));
    });
    return element("p", {}, "Did you mean ", button, "?");
  }

  /** Where a place is in the text, as the box counts. */
  private offsets([line, column, endColumn]: [number, number, number]): [number, number] {
    const lines = this.text.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const letters = [...(lines[line - 1] ?? "")];
    const length = (most: number): number => letters.slice(0, most).join("").length;
    return [before + length(column - 1), before + length(Math.max(endColumn - 1, column))];
  }

  private markPlace(place: [number, number, number]): void {
    if (document.activeElement === this.text) this.text.setSelectionRange(...this.offsets(place));
  }

  private history(): string[] {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(HISTORY) ?? "[]");
      return Array.isArray(kept) ? kept.filter((sql) => typeof sql === "string") : [];
    } catch {
      return [];
    }
  }

  private keepInHistory(sql: string): void {
    const kept = [sql, ...this.history().filter((other) => other !== sql)].slice(0, MOST_KEPT);
    sessionStorage.setItem(HISTORY, JSON.stringify(kept));
    this.showHistory();
  }

  private showHistory(): void {
    const kept = this.history();
    const options = kept.map((sql) => element("option", { value: sql }, sql.replace(/\s+/g, " ").slice(0, 80)));
    this.past.replaceChildren(element("option", { value: "" }, "History"), ...options);
    this.past.disabled = kept.length === 0;
  }
}

let panel: Sql | null = null;

export const sql: Panel = {
  id: "sql",
  title: "SQL",
  isUseful: () => store.state.sql && store.state.traces.some((trace) => trace.state === "ready"),
  async show(host) {
    panel ??= new Sql();
    host.append(panel.host);
    await panel.update();
  },
  update: () => panel?.update(),
};
