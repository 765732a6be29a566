// Declarations of the producers: descriptors, event types, log sites, subs and files.

import { ask } from "../../api";
import { count } from "../../format";
import { callPanel, keepLink, linkOf, select, store } from "../../store";
import type { DefinitionsLink } from "../../store/panels";
import { baseName } from "../../store/state";
import { Question } from "../../widgets/busy";
import { element, note, switcher } from "../../widgets/dom";
import { showCounter } from "../../widgets/jump";
import { rangeKey } from "../../widgets/range";
import { table, type Column, type TableElement } from "../../widgets/table";
import { DefinitionRow as Row, type DefinitionsAnswer } from "../../wire";
import { fresh, type Panel } from "../panel";

function kept(): Required<DefinitionsLink> {
  const state = linkOf("definitions");
  return {
    kind: typeof state?.kind === "string" ? state.kind : "",
    table: typeof state?.table === "object" ? { ...state.table } : {},
  };
}

/** The producer's color as CSS. */
function css(argb: number | null): string | null {
  return argb === null ? null : `rgb(${(argb >>> 16) & 255} ${(argb >>> 8) & 255} ${argb & 255})`;
}

function columns(rows: Row[]): Column<Row>[] {
  const most = rows.reduce((most, row) => Math.max(most, row[Row.used]), 1);
  const has = (of: (row: Row) => unknown): boolean => rows.some((row) => of(row) !== null && of(row) !== "");
  const place = ([, , , file, line]: Row): string =>
    file ? `${file}${line === null ? "" : `:${line}`}` : line === null ? "" : `line ${line}`;
  const traces = store.state.server.traces;
  const all: (Column<Row> | false)[] = [
    { title: "Name", text: (row) => row[Row.name], color: (row) => css(row[Row.color]) },
    { title: "Kind", text: (row) => row[Row.kind] },
    has(place) && { title: "Place", text: place },
    has((row) => row[Row.args]) && { title: "Arguments", text: (row) => row[Row.args] ?? "" },
    has((row) => row[Row.status]) && { title: "Status", text: (row) => row[Row.status] ?? "" },
    traces.length > 1 && { title: "Trace", text: (row) => baseName(traces[row[Row.trace]]?.path ?? "") },
    {
      title: "Used",
      hint: "Number of uses",
      text: (row) => count(row[Row.used]),
      value: (row) => row[Row.used],
      bar: (row) => row[Row.used] / most,
    },
    has((row) => row[Row.unit]) && {
      title: "As",
      hint: "The kind of rows that use it",
      text: (row) => row[Row.unit] ?? "",
    },
  ];
  return all.filter((column) => column !== false);
}

class DefinitionsPanel {
  private readonly tools = element("div", { class: "within" });
  private readonly body = element("div");
  private readonly foot = element("p", { class: "note" });
  private readonly question = new Question();
  private rows: TableElement<Row> | null = null;
  private answer: DefinitionsAnswer | null = null;
  /** The row that was last shown in another panel. */
  private followed: Row | null = null;

  constructor(readonly host: HTMLElement) {
    host.append(this.question.host, this.body, this.foot);
  }

  async update(): Promise<void> {
    const key = rangeKey({});
    if (!this.question.isNew(key)) return this.rows?.refresh();
    await this.question.ask(
      (signal) => ask("definitions", {}, signal),
      (answer) => {
        this.answer = answer;
        this.fill();
      },
      (message) => this.body.replaceChildren(message),
    );
  }

  private fill(): void {
    const { answer } = this;
    if (!answer) return;
    const kinds = [...new Set(answer.rows.map((row) => row[Row.kind]))].sort();
    const kind = kinds.includes(kept().kind) ? kept().kind : "";
    const choices = [{ id: "", title: "All" }, ...kinds.map((id) => ({ id, title: id }))];
    this.tools.replaceChildren(
      ...(kinds.length > 1 ? [switcher("Kind", choices, kind, (id) => this.change({ kind: id }))] : []),
    );
    const cut =
      answer.all > answer.rows.length
        ? `Only the first ${count(answer.rows.length)} of ${count(answer.all)} are shown. `
        : "";
    this.foot.textContent =
      cut + (answer.loading ? "A trace is still loading; its definitions are not listed yet." : "");
    if (answer.rows.length === 0)
      return this.body.replaceChildren(
        note(answer.loading ? "The trace is still loading." : "This trace has no definitions."),
      );
    const rows = kind === "" ? answer.rows : answer.rows.filter((row) => row[Row.kind] === kind);
    this.rows = table(columns(rows), rows, (row) => this.follow(row), {
      isChosen: (row) =>
        row === this.followed ||
        (store.state.selection.name !== null && store.state.names.text(store.state.selection.name) === row[Row.name]),
      tools: [this.tools],
      name: "traceloom-definitions",
      state: kept().table,
      changed: (state) => keepLink("definitions", { ...kept(), table: state }),
    });
    this.body.replaceChildren(this.rows);
  }

  /** Shows a row in another panel, or reports that nothing uses it. */
  private follow(row: Row): void {
    this.followed = row;
    if (!follow(row)) this.foot.textContent = `Nothing in the trace uses ${row[Row.name]}.`;
  }

  private change(change: DefinitionsLink): void {
    keepLink("definitions", { ...kept(), ...change });
    this.fill();
    this.tools.querySelector<HTMLElement>('[aria-checked="true"]')?.focus();
  }
}

/** Shows the uses of a declaration in the most suitable panel; returns whether there are any. */
function follow(row: Row): boolean {
  const [trace, kind, name, file, line, , , , used, unit, id] = row;
  const hasMemory = (store.state.server.traces[trace]?.memory ?? null) !== null;
  if (unit === "log lines" && id !== null) {
    callPanel("log", { text: "", regex: false, case: false, levels: [], site: { trace, id, name } });
    return true;
  }
  if (kind === "function" && hasMemory) {
    callPanel("memory", { trace, list: "of", function: name });
    return true;
  }
  if (unit === "values") return showCounter(trace, name);
  const number = store.state.names.number(name);
  if (used > 0 && number !== undefined && unit !== "calls" && unit !== "statements") {
    select({ name: number, place: null, span: null });
    return true;
  }
  const path = kind === "file" || kind === "eval" ? name : file;
  if (path === null || !store.state.server.traces[trace]?.has_source) return false;
  callPanel("source", { trace, path, line: line ?? undefined });
  return true;
}

export const definitions: Panel = {
  id: "definitions",
  title: "Definitions",
  isUseful: ({ server }) => server.traces.some((trace) => trace.state === "ready"),
  create: () => fresh((host) => new DefinitionsPanel(host)),
};
