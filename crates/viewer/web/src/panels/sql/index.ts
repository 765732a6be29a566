// SQL queries; rows with a time link to the timeline.

import { count, duration } from "../../format";
import { runQuery } from "../../queried/tracks";
import { keepLink, linkOf, store } from "../../store";
import { element, failure, note } from "../../widgets/dom";
import type { SqlAnswer, SqlProblem } from "../../wire";
import { fresh, lasting, type Content, type Panel } from "../panel";
import { SchemaList } from "./schema";
import { Shown } from "./shown";
import { around, offsets } from "./text";

const HISTORY = "traceloom-sql";
const MAX_KEPT = 50;

class Sql {
  readonly host = element("div", { class: "sheet sql" });
  private readonly text = element("textarea", {
    "aria-label": "SQL query",
    spellcheck: "false",
    rows: "4",
    placeholder: "select name, count(*) from spans group by name",
  });
  private readonly runs = element("button", { type: "button", class: "primary", title: "Ctrl+Enter" }, "Run");
  private readonly stops = element("button", { type: "button", title: "Escape" }, "Stop");
  private readonly past = element("select", { "aria-label": "History", title: "Queries of this session" });
  private readonly status = element("span", { class: "note", role: "status" });
  private readonly shown = new Shown({ chart: false, value: null }, () => this.remember());
  private readonly schema = new SchemaList(
    (name) => this.insert(name),
    (sql) => this.put(sql),
  );
  private running: AbortController | null = null;
  private linked: unknown;

  constructor() {
    this.stops.disabled = true;
    const tools = element(
      "div",
      { class: "tools" },
      this.runs,
      this.stops,
      this.schema.examples,
      this.past,
      this.shown.tools,
      this.status,
    );
    this.host.append(element("div", { class: "main" }, this.text, tools, this.shown.host), this.schema.host);
    this.runs.addEventListener("click", () => void this.run());
    this.stops.addEventListener("click", () => this.running?.abort());
    this.past.addEventListener("change", () => this.past.value !== "" && this.put(this.past.value, false));
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.text.addEventListener("input", () => this.remember());
    this.shown.say(note("Ctrl+Enter runs the query. Click a row with ts_ns to show its time in the timeline."));
    this.showHistory();
  }

  /** Follows the traces, and queries from other panels. */
  async update(): Promise<void> {
    const linked = linkOf("sql");
    if (linked !== this.linked) {
      this.linked = linked;
      if (typeof linked?.text === "string") this.text.value = linked.text;
      const { chart, value } = linked ?? {};
      this.shown.looks = { chart: chart === true, value: typeof value === "string" ? value : null };
      // When a link is opened, a chart is restored; a query with a table result is not run automatically.
      if (linked?.run === true || chart === true) {
        this.remember();
        void this.run();
      }
    }
    await this.schema.update();
    if (this.text.value !== "" || this.schema.first === "") return;
    this.text.value = this.schema.first;
    void this.run();
  }

  private remember(): void {
    const link = { text: this.text.value, ...this.shown.looks };
    this.linked = link;
    keepLink("sql", link);
  }

  /** Fills in a query and runs it. */
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
      const answer = await runQuery(this.text.value, own.signal);
      if (this.running === own) this.showAnswer(sql, answer);
    } catch (error) {
      if (this.running !== own) return;
      this.status.textContent = own.signal.aborted ? "Stopped" : "";
      if (!own.signal.aborted) this.shown.say(failure(error));
    } finally {
      if (this.running === own) {
        this.running = null;
        this.stops.disabled = true;
      }
    }
  }

  private showAnswer(sql: string, answer: SqlAnswer): void {
    if ("problem" in answer) {
      this.status.textContent = "";
      return this.shown.say(this.problem(answer.problem));
    }
    if (answer.is_stopped) return void (this.status.textContent = "Stopped by another query");
    const rows = `${count(answer.rows.length)} ${answer.rows.length === 1 ? "row" : "rows"}`;
    const cut = answer.is_cut ? `; only the first ${rows} are shown` : "";
    this.status.textContent = `${answer.is_cut ? "" : `${rows} `}in ${duration(answer.elapsed_ms * 1e6)}${cut}`;
    this.shown.show(sql, answer);
  }

  /** The message, the line with the marked position, and a suggestion. */
  private problem({ message, place, help }: SqlProblem): HTMLElement {
    const host = element("div", { class: "problem" }, element("p", { class: "error" }, message));
    const line = place && around(this.text.value, place);
    if (line) {
      const [before, marked, after] = line;
      const number = element("span", { class: "note" }, `${place[0]} | `);
      host.append(element("pre", {}, number, before, element("mark", {}, marked || " "), after));
      if (document.activeElement === this.text) this.text.setSelectionRange(...offsets(this.text.value, place));
    }
    for (const text of help) host.append(this.help(text, place));
    return host;
  }

  /** A click replaces the name with the suggestion. */
  private help(text: string, place: SqlProblem["place"]): HTMLElement {
    const meant = /^did you mean `(.+)`\?$/.exec(text)?.[1];
    if (meant === undefined || !place) return element("p", {}, text);
    const button = element("button", { type: "button", title: "Replace and run" }, meant);
    button.addEventListener("click", () => {
      const [from, to] = offsets(this.text.value, place);
      this.put(this.text.value.slice(0, from) + meant + this.text.value.slice(to));
    });
    return element("p", {}, "Did you mean ", button, "?");
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
    const kept = [sql, ...this.history().filter((other) => other !== sql)].slice(0, MAX_KEPT);
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

/** Explains how to use SQL if there is no engine. */
function elsewhere(host: HTMLElement): Content {
  host.append(
    note(
      "This page has no SQL engine. Open the trace with `traceloom view FILE` to use this panel, or run `traceloom query FILE` in a terminal.",
    ),
  );
  return { update: () => undefined };
}

export const sql: Panel = {
  id: "sql",
  title: "SQL",
  isUseful: ({ server }) => server.traces.some((trace) => trace.state === "ready"),
  create: () => (store.state.server.sql ? lasting(() => new Sql()) : fresh(elsewhere)),
};
