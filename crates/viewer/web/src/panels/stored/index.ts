// The traces of a store, of any number: only the visible rows are requested.

import { ask, askWith } from "../../api";
import { bytes, count, duration } from "../../format";
import { keepLink, store } from "../../store";
import type { StoredFilter } from "../../store/panels";
import { baseName } from "../../store/state";
import { openTrace, traceAddress } from "../../stored";
import { BusyMark, Latest } from "../../widgets/busy";
import { element, failure, searchField } from "../../widgets/dom";
import { Paged } from "../../widgets/paged";
import { StoredRow, TagValue, type StoredSort, type StoreTag } from "../../wire";
import { lasting, type Panel } from "../panel";
import { details } from "./details";
import { filterOf, isSortedBy, queryOf, sorted, STATES, tagged } from "./filter";
import { entries, problems, startOf } from "./words";

const LINE = 22;

class StoredList {
  readonly host = element("div", { class: "sheet storelist" });
  private readonly text = searchField("Text in path or tags", "Text in path or tags  /");
  private readonly choices = element("span", { class: "chips" });
  private readonly counted = element("span", { class: "note", role: "status" });
  private readonly head = element("div", { class: "storehead" });
  private readonly aside = element("aside", { class: "aside", hidden: "" });
  private readonly problem = element("div", { role: "alert" });
  private readonly busy = new BusyMark();
  private readonly latest = new Latest();
  private readonly list = new Paged<StoredRow>({
    label: "Traces",
    height: LINE,
    roles: ["grid", "row"],
    ask: (skip, take) =>
      this.busy.during(askWith("store/traces", queryOf(this.filter, skip, take), this.asking.signal)),
    row: (row) => this.row(row),
    counted: (total) => this.count(total),
    failed: (error) => this.problem.replaceChildren(failure(error)),
    choose: (row, at) => void this.choose(row, at),
    open: (row) => void this.open(row[StoredRow.id]),
  });
  private filter: StoredFilter = filterOf(store.state.links["stored"]);
  /** The saved state of the filter; another panel may have set a new one. */
  private adopted: unknown = undefined;
  private asking = new AbortController();
  private about: unknown = null;
  private waiting = 0;

  constructor() {
    const tools = element("div", { class: "tools" }, this.text, this.choices, this.counted);
    const main = element(
      "div",
      { class: "main" },
      this.busy.host,
      tools,
      this.head,
      this.list.lines.host,
      this.problem,
    );
    this.host.append(main, this.aside);
    this.text.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = window.setTimeout(() => this.change({ ...this.filter, text: this.text.value, at: 0 }), 120);
    });
    this.list.lines.host.addEventListener("click", (event) => this.follow(event));
    // The heading leaves the same space for the scroll bar as the rows.
    new ResizeObserver(() => {
      const { offsetWidth, clientWidth } = this.list.lines.host;
      this.head.style.marginRight = `${offsetWidth - clientWidth}px`;
    }).observe(this.list.lines.host);
  }

  async update(): Promise<void> {
    const tags = store.state.stored?.about?.tags ?? null;
    const [kept, isNew] = [store.state.links["stored"], tags !== this.about];
    this.about = tags;
    if (kept !== this.adopted) {
      this.adopted = kept;
      this.filter = filterOf(kept);
    } else if (!isNew) return this.list.lines.resume();
    this.show(tags ?? []);
    await this.load();
  }

  private change(filter: StoredFilter): void {
    this.filter = this.adopted = filter;
    keepLink("stored", filter);
    this.show(store.state.stored?.about?.tags ?? []);
    void this.load();
  }

  private async load(): Promise<void> {
    // Pending answers belong to the previous query.
    this.asking.abort();
    this.asking = new AbortController();
    this.problem.replaceChildren();
    await this.list.restart(this.filter.at);
    this.host.dataset["listed"] = String(this.list.lines.count);
  }

  private show(tags: readonly StoreTag[]): void {
    if (document.activeElement !== this.text) this.text.value = this.filter.text;
    this.choices.replaceChildren(
      ...tags.filter(({ all, column }) => all > 1 || column in this.filter.tags).map((tag) => this.choice(tag)),
      this.stateChoice(),
    );
    this.head.replaceChildren(
      ...tags.map(({ column }) => this.sorter(title(column), "tag", column)),
      this.sorter("Start", "start"),
      this.sorter("File", "path"),
      this.sorter("Contents", "entries"),
      this.sorter("Duration", "duration"),
      this.sorter("Size", "bytes"),
      this.sorter("Problems", "problems"),
    );
    this.host.style.setProperty("--columns", columnsOf(tags));
  }

  private choice({ column, values, all }: StoreTag): HTMLElement {
    const chosen = this.filter.tags[column];
    const made = element("select", { "aria-label": title(column), "data-tag": column });
    made.append(element("option", { value: "" }, `Any ${column}`));
    for (const value of values) {
      const text = value[TagValue.value];
      const option = element("option", { value: text }, `${text} (${count(value[TagValue.traces])})`);
      option.selected = text === chosen;
      made.append(option);
    }
    if (all > values.length) made.append(element("option", { disabled: "" }, `${count(all - values.length)} more`));
    made.classList.toggle("chosen", chosen !== undefined);
    made.addEventListener("change", () => this.change(tagged(this.filter, column, made.value || null)));
    return made;
  }

  private stateChoice(): HTMLElement {
    const made = element("select", { "aria-label": "State", "data-tag": "state" });
    for (const [id, text] of STATES) {
      const option = element("option", { value: id }, text);
      option.selected = id === this.filter.state;
      made.append(option);
    }
    made.classList.toggle("chosen", this.filter.state !== "all");
    made.addEventListener("change", () => this.change(filterOf({ ...this.filter, state: made.value, at: 0 })));
    return made;
  }

  private sorter(text: string, sort: StoredSort, column = ""): HTMLElement {
    const isOn = isSortedBy(this.filter, sort, column);
    const made = element(
      "button",
      { type: "button", "aria-pressed": String(isOn), title: `Sort by ${text.toLowerCase()}` },
      text,
    );
    if (isOn) made.append(element("span", { "aria-hidden": "true" }, this.filter.isDown ? " ▾" : " ▴"));
    if (NUMBERS.includes(sort)) made.classList.add("number");
    made.addEventListener("click", () => this.change(sorted(this.filter, sort, column)));
    return made;
  }

  private count(total: number): void {
    const about = store.state.stored?.about;
    const all = about?.listed ?? total;
    const cut = about && about.listed < about.all ? `, the newest of ${count(about.all)}` : "";
    this.counted.textContent =
      total === all ? `${count(all)} traces${cut}` : `${count(total)} of ${count(all)} traces${cut}`;
  }

  private row(row: StoredRow): HTMLElement {
    const cell = (text: string, kind = ""): HTMLElement =>
      element("span", { role: "gridcell", title: text, ...(kind ? { class: kind } : {}) }, text);
    const finding = row[StoredRow.finding];
    const path = row[StoredRow.path];
    const name = baseName(path);
    // A file that cannot be read has no link.
    const file =
      finding === null ? element("a", { href: traceAddress(row[StoredRow.id]) }, name) : element("span", {}, name);
    const length = row[StoredRow.duration_ns];
    const made = element(
      "div",
      { class: "storeline", "data-trace": row[StoredRow.id] },
      ...row[StoredRow.tags].map((tag) => cell(tag)),
      cell(startOf(row).slice(11, 19)),
      element("span", { role: "gridcell", title: path }, file),
      ...(finding === null
        ? [cell(entries(row), "number"), cell(length === null ? "" : duration(length), "number")]
        : [cell(finding, "finding")]),
      cell(bytes(row[StoredRow.bytes]), "number"),
      cell(problems(row), "number problems"),
    );
    made.classList.toggle("bad", finding !== null || row[StoredRow.errors] > 0);
    made.classList.toggle("warn", row[StoredRow.warnings] > 0);
    return made;
  }

  /** A click on the name of a file opens it here, unless it asks for a new tab. */
  private follow(event: MouseEvent): void {
    const link = (event.target as HTMLElement).closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const trace = link.closest<HTMLElement>("[data-trace]")?.dataset["trace"];
    if (trace !== undefined) void this.open(trace);
  }

  private async choose(row: StoredRow, at: number): Promise<void> {
    this.filter = this.adopted = { ...this.filter, at };
    keepLink("stored", this.filter);
    this.problem.replaceChildren();
    try {
      const known = await this.latest.ask((signal) => ask("store/trace", { id: row[StoredRow.id] }, signal));
      if (!known) return;
      const columns = (store.state.stored?.about?.tags ?? []).map(({ column }) => title(column));
      this.aside.replaceChildren(...details(known, columns, () => void this.open(row[StoredRow.id])));
      this.aside.hidden = false;
    } catch (error) {
      this.problem.replaceChildren(failure(error));
    }
  }

  private async open(trace: string): Promise<void> {
    this.problem.replaceChildren();
    try {
      await this.busy.during(openTrace(trace));
    } catch (error) {
      this.problem.replaceChildren(failure(error));
    }
  }
}

const NUMBERS: readonly StoredSort[] = ["entries", "duration", "bytes", "problems"];

/** The name of a column as a heading. */
function title(column: string): string {
  return column.slice(0, 1).toUpperCase() + column.slice(1);
}

/** Tags are as wide as their values; the file and the contents share the rest. */
function columnsOf(tags: readonly StoreTag[]): string {
  const width = ({ column, values }: StoreTag): number =>
    values.reduce((most, value) => Math.max(most, value[TagValue.value].length), column.length + 2);
  const wide = tags.map((tag) => `minmax(${Math.min(width(tag), 12)}ch, ${Math.min(width(tag), 24)}ch)`);
  return [...wide, "8ch", "minmax(10ch, 2fr)", "minmax(15ch, 1fr)", "9ch", "8ch", "minmax(11ch, 18ch)"].join(" ");
}

export const stored: Panel = {
  id: "stored",
  title: "Traces",
  isUseful: (state) => state.stored !== null,
  create: () => lasting(() => new StoredList()),
};
