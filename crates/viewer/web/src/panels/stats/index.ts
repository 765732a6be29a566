// Statistics of the selection, the window or everything, as in `traceloom stats`.

import { ask } from "../../api";
import { count, duration } from "../../format";
import { callPanel, keepLink, linkOf, selectName, store } from "../../store";
import type { StatsLink, StatsList, TableState } from "../../store/panels";
import { Question } from "../../widgets/busy";
import { element, note, switcher, type Choice } from "../../widgets/dom";
import { showSpan } from "../../widgets/jump";
import { followView, isWhole, range, rangeKey, rangeSwitch } from "../../widgets/range";
import { table, type Column, type TableElement, type TableOptions } from "../../widgets/table";
import { SpanRow, type Grouping, type RangeQuery, type Stats } from "../../wire";
import { fresh, type Panel, type Watch } from "../panel";
import { eventColumns, functionColumns, spanColumns, threadColumns, valueColumns } from "./columns";

const LISTS: [StatsList, string][] = [
  ["spans", "Spans"],
  ["functions", "Functions"],
  ["values", "Values"],
  ["events", "Events"],
  ["threads", "Threads"],
];
const GROUPINGS: Choice<Grouping>[] = [
  { id: "name", title: "Name", hint: "One row per name" },
  { id: "thread", title: "Thread", hint: "One row per name and thread" },
  { id: "file", title: "File", hint: "One row per name and source file" },
  { id: "category", title: "Kind", hint: "One row per name and kind of span" },
];

function kept(): Required<StatsLink> {
  const state = linkOf("stats");
  const list = LISTS.find(([id]) => id === state?.list)?.[0] ?? "spans";
  const by = GROUPINGS.find((grouping) => grouping.id === state?.by)?.id ?? "name";
  // The server returns rows in this order, so no sorting is needed.
  const first: TableState = list === "spans" || list === "functions" ? { column: "Self", isDown: true } : {};
  return { list, by, table: { ...first, ...(typeof state?.table === "object" ? state.table : {}) } };
}

function keep(change: StatsLink): void {
  keepLink("stats", { ...kept(), ...change });
}

class StatsPanel {
  private readonly tools = element("div", { class: "within" });
  private readonly body = element("div");
  private readonly foot = element("div");
  private readonly question = new Question();
  private answer: Stats | null = null;
  private asked: RangeQuery = {};
  /** The key of the current table, which is reused for other rows of the same kind. */
  private shape = "";
  private rows: TableElement<unknown> | null = null;

  constructor(readonly host: HTMLElement) {
    host.append(this.question.host, this.body, this.foot);
    this.body.append(element("div", { class: "tools" }, this.tools));
  }

  watch(watch: Watch): void {
    followView(watch, () => void this.update());
  }

  async update(): Promise<void> {
    const asked = range();
    const key = rangeKey(asked) + kept().by;
    if (!this.question.isNew(key)) return this.mark();
    this.writeTools();
    await this.question.ask(
      (signal) => ask("stats", { ...asked, by: kept().by }, signal),
      (answer) => {
        [this.answer, this.asked] = [answer, asked];
        this.fill();
      },
      (message) => {
        this.shape = "";
        this.body.replaceChildren(element("div", { class: "tools" }, this.tools), message);
      },
    );
  }

  private mark(): void {
    this.writeTools();
    this.rows?.refresh();
  }

  private lists(): [StatsList, string, number][] {
    const { answer } = this;
    const sizes = (id: StatsList): number => (!answer ? 0 : id === "threads" ? answer.threads.length : answer[id].all);
    return LISTS.map(([id, title]): [StatsList, string, number] => [id, title, sizes(id)]).filter(
      ([, , size]) => size > 0,
    );
  }

  private list(): StatsList {
    const lists = this.lists();
    const wanted = kept().list;
    return lists.some(([id]) => id === wanted) ? wanted : (lists[0]?.[0] ?? "spans");
  }

  private writeTools(): void {
    const { by } = kept();
    const focused = (document.activeElement as HTMLElement | null)?.dataset["choice"];
    const hadFocus = this.tools.contains(document.activeElement);
    const lists = this.lists().map(([id, title, size]): Choice<StatsList> => ({
      id,
      title: `${title} ${count(size)}`,
    }));
    const shown = [rangeSwitch(() => void this.update())];
    if (lists.length > 1)
      shown.push(
        switcher("List", lists, this.list(), (id) =>
          this.change({ list: id, table: { filter: kept().table.filter ?? "" } }),
        ),
      );
    if (this.lists().length > 0 && (this.list() === "spans" || this.list() === "events")) {
      shown.push(switcher("Group by", GROUPINGS, by, (id) => this.change({ by: id })));
    }
    this.tools.replaceChildren(...shown);
    if (hadFocus && focused) this.tools.querySelector<HTMLElement>(`[data-choice="${focused}"]`)?.focus();
  }

  private change(change: StatsLink): void {
    keep(change);
    this.fill();
    void this.update();
  }

  private fill(): void {
    const { answer } = this;
    if (!answer) return;
    this.writeTools();
    const list = this.list();
    const remarks = this.remarks(answer, list);
    this.foot.replaceChildren(...(remarks === "" ? [] : [note(remarks)]), ...this.elsewhere(answer));
    if (this.lists().length === 0) {
      [this.shape, this.rows] = ["", null];
      return this.body.replaceChildren(element("div", { class: "tools" }, this.tools));
    }
    if (list === "spans")
      this.show(list, answer.spans.rows, spanColumns(kept().by, answer.spans.rows), {
        open: (row: SpanRow) => void this.longest(row),
      });
    if (list === "functions") this.show(list, answer.functions.rows, functionColumns);
    if (list === "values") this.show(list, answer.values.rows, valueColumns);
    if (list === "events") this.show(list, answer.events.rows, eventColumns(answer.events.rows));
    if (list === "threads") this.show(list, answer.threads, threadColumns(answer.threads));
  }

  private show<T extends [string, ...unknown[]]>(
    list: StatsList,
    rows: T[],
    columns: Column<T>[],
    more: TableOptions<T> = {},
  ): void {
    const shape = JSON.stringify([list, columns.map((column) => column.title)]);
    if (shape === this.shape && this.rows) return this.rows.setRows(rows);
    this.shape = shape;
    const choose = list === "threads" ? undefined : (row: T): void => void selectName(row[0]);
    const isChosen = (row: T): boolean =>
      list !== "threads" &&
      store.state.selection.name !== null &&
      store.state.names.text(store.state.selection.name) === row[0];
    const options: TableOptions<T> = {
      ...more,
      isChosen,
      tools: [this.tools],
      name: `traceloom-${list}`,
      state: kept().table,
      changed: (state) => keep({ table: state }),
    };
    const made = table(columns, rows, choose, options);
    this.rows = made;
    this.body.replaceChildren(made);
  }

  private async longest(row: SpanRow): Promise<void> {
    const name = store.state.names.number(row[SpanRow.name]);
    if (name === undefined) return;
    const thread = row[SpanRow.thread];
    const tracks = thread === null ? {} : { tracks: tracksOf(thread, row[SpanRow.tid]) };
    const answer = await ask("longest", { ...this.asked, ...tracks, name, take: 1 });
    if (answer.places[0]) showSpan(answer.places[0]);
  }

  private remarks(answer: Stats, list: StatsList): string {
    const said: string[] = [];
    if (list === "spans" && answer.spans.all > 0) {
      said.push(`${duration(answer.self_ns)} self time in total.`);
      if (answer.unclosed > 0)
        said.push(`${count(answer.unclosed)} spans were never closed; they have no duration and are not counted.`);
      if (answer.merged > 0)
        said.push(`${count(answer.merged)} spans are counted as (other) because there are too many groups.`);
      if (answer.spans.rows.some((row) => !row[SpanRow.is_exact]))
        said.push("~ within 0.1 %: there are too many spans to keep them all.");
    }
    if (list === "functions") said.push("The profiler recorded only these sums, so there are no individual calls.");
    if (list !== "threads" && answer[list].all > answer[list].rows.length) {
      said.push(`Only the first ${count(answer[list].rows.length)} of ${count(answer[list].all)} rows are shown.`);
    }
    if (answer.loading) said.push("A trace is still loading; these figures do not include it yet.");
    return said.join(" ");
  }

  /** A message if there are no spans, with links to other panels. */
  private elsewhere(answer: Stats): HTMLElement[] {
    if (answer.spans.all > 0 || answer.loading) return [];
    if (!isWhole(this.asked)) return this.lists().length > 0 ? [] : [note("No spans start in this range.")];
    const { logs, traces } = store.state.server;
    const said = answer.functions.all > 0 ? [] : [note("This trace has no spans, so there are no durations to show.")];
    if (logs > 0) said.push(pointer("log", `See its ${count(logs)} log lines in the Log panel.`));
    if (traces.some((trace) => trace.memory !== null))
      said.push(pointer("memory", "See its allocations in the Memory panel."));
    if (traces.some((trace) => trace.has_lines))
      said.push(pointer("source", "See its line timings in the Source panel."));
    return said;
  }
}

function pointer(panel: "log" | "memory" | "source", text: string): HTMLElement {
  const button = element("button", { type: "button" }, "Open");
  button.addEventListener("click", () => callPanel(panel));
  return element("p", {}, `${text} `, button);
}

/** The tracks of a thread with this name and id. */
function tracksOf(name: string, tid: number | null): string {
  const isSame = (track: { tid: number | null; name: string }): boolean =>
    tid === null ? track.name === name : track.tid === tid;
  return store.state.server.tracks.flatMap((track, number) => (isSame(track) ? [number] : [])).join();
}

export const stats: Panel = {
  id: "stats",
  title: "Statistics",
  isUseful: ({ server }) => server.traces.length > 0,
  create: () => fresh((host) => new StatsPanel(host)),
};
