// What the producers declared: descriptors, event types, log sites, subs and files.

import { ask } from "../api";
import { count } from "../format";
import { panelState, rememberPanelState } from "../link";
import { store } from "../store";
import { openPanelWith, showCounter } from "./jump";
import { element, failure, note, switcher, table, type Column, type Panel, type TableElement } from "./panel";
import type { LogFilter } from "./log";
import { busyMark, Latest, partKey } from "./part";
import { source } from "./source";
import { nameNumber } from "./statsrows";
import type { TableState } from "./table";

type Row = [
  trace: number,
  kind: string,
  name: string,
  file: string | null,
  line: number | null,
  color: number | null,
  status: string | null,
  args: string | null,
  used: number,
  unit: string,
  id: number | null,
];

interface Definitions {
  loading: boolean;
  all: number;
  rows: Row[];
}

interface Kept {
  kind: string;
  table: TableState;
}

function kept(): Kept {
  const state = panelState<Partial<Kept>>("definitions");
  return { kind: typeof state?.kind === "string" ? state.kind : "", table: typeof state?.table === "object" ? { ...state.table } : {} };
}

/** The producer's colour as CSS. */
function css(argb: number | null): string | null {
  return argb === null ? null : `rgb(${(argb >>> 16) & 255} ${(argb >>> 8) & 255} ${argb & 255})`;
}

function columns(rows: Row[]): Column<Row>[] {
  const most = rows.reduce((most, row) => Math.max(most, row[8]), 1);
  const has = (of: (row: Row) => unknown): boolean => rows.some((row) => of(row) !== null && of(row) !== "");
  const place = (row: Row): string => (row[3] ? `${row[3]}${row[4] === null ? "" : `:${row[4]}`}` : row[4] === null ? "" : `line ${row[4]}`);
  const all: (Column<Row> | false)[] = [
    { title: "Name", text: (row) => row[2], color: (row) => css(row[5]) },
    { title: "Kind", text: (row) => row[1] },
    has(place) && { title: "Place", text: place },
    has((row) => row[7]) && { title: "Arguments", text: (row) => row[7] ?? "" },
    has((row) => row[6]) && { title: "Status", text: (row) => row[6] ?? "" },
    store.state.traces.length > 1 && { title: "Trace", text: (row) => store.state.traces[row[0]]?.path.split("/").pop() ?? "" },
    { title: "Used", hint: "How often it is referred to", text: (row) => count(row[8]), value: (row) => row[8], bar: (row) => row[8] / most },
    has((row) => row[9]) && { title: "As", hint: "What refers to it", text: (row) => row[9] },
  ];
  return all.filter((column) => column !== false);
}

class DefinitionsPanel {
  private readonly tools = element("div", { class: "within" });
  private readonly body = element("div");
  private readonly foot = element("p", { class: "note" });
  private readonly busy = busyMark();
  private readonly latest = new Latest();
  private rows: TableElement<Row> | null = null;
  private answer: Definitions | null = null;
  private key = "";
  /** The row that was shown elsewhere. */
  private followed: Row | null = null;

  constructor(readonly host: HTMLElement) {
    host.append(this.busy.host, this.body, this.foot);
  }

  async refresh(): Promise<void> {
    const key = partKey({});
    if (key === this.key) return this.rows?.refresh();
    this.key = key;
    try {
      const answer = await this.busy.during(this.latest.ask((signal) => ask<Definitions>("definitions", {}, signal)));
      if (!answer) return;
      this.answer = answer;
      this.fill();
    } catch (error) {
      this.key = "";
      this.body.replaceChildren(failure(error));
    }
  }

  private fill(): void {
    const { answer } = this;
    if (!answer) return;
    const kinds = [...new Set(answer.rows.map((row) => row[1]))].sort();
    const kind = kinds.includes(kept().kind) ? kept().kind : "";
    const choices = [{ id: "", title: "All" }, ...kinds.map((id) => ({ id, title: id }))];
    this.tools.replaceChildren(...(kinds.length > 1 ? [switcher("Kind", choices, kind, (id) => this.change({ kind: id }))] : []));
    const cut = answer.all > answer.rows.length ? `Only the first ${count(answer.rows.length)} of ${count(answer.all)} are here. ` : "";
    this.foot.textContent = cut + (answer.loading ? "A trace is still being read; what it declares is not here yet." : "");
    if (answer.rows.length === 0) return this.body.replaceChildren(note(answer.loading ? "The trace is still being read." : "This trace declares nothing."));
    const rows = kind === "" ? answer.rows : answer.rows.filter((row) => row[1] === kind);
    this.rows = table(columns(rows), rows, (row) => this.follow(row), {
      isChosen: (row) => row === this.followed || (store.selection.name !== null && store.name(store.selection.name) === row[2]),
      tools: [this.tools],
      name: "traceloom-definitions",
      state: kept().table,
      changed: (state) => rememberPanelState("definitions", { ...kept(), table: state }),
    });
    this.body.replaceChildren(this.rows);
  }

  /** Shows a row elsewhere, or says that nothing does. */
  private follow(row: Row): void {
    this.followed = row;
    if (!follow(row)) this.foot.textContent = `Nothing in the trace refers to ${row[2]}.`;
  }

  private change(change: Partial<Kept>): void {
    rememberPanelState("definitions", { ...kept(), ...change });
    this.fill();
    this.tools.querySelector<HTMLElement>('[aria-checked="true"]')?.focus();
  }
}

/** Shows what a declaration was used for, wherever that is seen best; whether there is any such place. */
function follow(row: Row): boolean {
  const [trace, kind, name, file, line, , , , used, unit, id] = row;
  if (unit === "log lines" && id !== null) {
    openPanelWith("log", { text: "", regex: false, case: false, levels: [], site: { trace, id, name } } satisfies LogFilter);
    return true;
  }
  if (kind === "function" && store.state.traces[trace]?.memory != null) {
    openPanelWith("memory", { trace, list: "of", function: name });
    return true;
  }
  if (unit === "values") return showCounter(trace, name);
  const number = nameNumber(name);
  if (used > 0 && number !== undefined && unit !== "calls" && unit !== "statements") {
    store.select({ name: number, place: null, span: null });
    return true;
  }
  const path = kind === "file" || kind === "eval" ? name : file;
  if (path === null || !source.isUseful()) return false;
  openPanelWith("source", { trace, path, line });
  return true;
}

let open: DefinitionsPanel | null = null;

export const definitions: Panel = {
  id: "definitions",
  title: "Definitions",
  isUseful: () => store.state.traces.some((trace) => trace.state === "ready"),
  show(host) {
    open = new DefinitionsPanel(host);
    return open.refresh();
  },
  update: () => open?.refresh(),
};
