// A virtual table of any length, of which only visible rows are elements.

import { count } from "../format";
import type { TableState } from "../store/panels";
import { saveCsv } from "./csv";
import { onNextFrame } from "./canvas";
import { element, searchField } from "./dom";
import { stepOf } from "./steps";
import { cell, compare, letter, number, side } from "./cells";

export interface Column<T> {
  title: string;
  /** The text of a cell. */
  text: (row: T) => string;
  /** The sort key (default: the text). Columns with it are right-aligned. */
  value?: (row: T) => number;
  /** The tooltip of the title. */
  hint?: string;
  /** The tooltip of a cell, if it differs from the text. */
  about?: (row: T) => string;
  /** The name of the column in a file, if the title lacks the unit. */
  csv?: string;
  /** A share of a whole, from 0 to 1, drawn behind the text. */
  bar?: (row: T) => number;
  /** A color shown next to the text. */
  color?: (row: T) => string | null;
  /** The alignment of the column, if it differs from the default. */
  align?: "left" | "right";
}

export interface TableOptions<T> {
  /** Enter or a double click. */
  open?: (row: T) => void;
  /** Whether a row is selected. */
  isChosen?: (row: T) => boolean;
  /** The name of the CSV file. */
  name?: string;
  /** Elements before the filter. */
  tools?: HTMLElement[];
  /** Whether rows can be filtered (default: yes). */
  isSearched?: boolean;
  /** The saved state. */
  state?: TableState;
  /** Called when filter or order change. */
  changed?: (state: TableState) => void;
}

export type TableElement<T> = HTMLElement & {
  /** Shows other rows with the same order and filter. */
  setRows(rows: T[]): void;
  /** Marks the selected row again. */
  refresh(): void;
};

const ROW = 22;
const SPARE = 12;
/** Minimum width of a shrunk text column, in letters. */
const NARROWEST = 14;
const order = new Intl.Collator("en", { numeric: true });

/** A table that can be sorted, filtered, navigated by keys, and saved as CSV. */
export function table<T>(
  columns: Column<T>[],
  rows: T[],
  choose?: (row: T) => void,
  options: TableOptions<T> = {},
): TableElement<T> {
  const made = new Table(columns, rows, choose, options);
  return Object.assign(made.host, { setRows: (next: T[]) => made.setRows(next), refresh: () => made.mark() });
}

class Table<T> {
  readonly host = element("div", { class: "rows" });
  private readonly filter = searchField("Filter");
  private readonly counted = element("span", { class: "note", role: "status" });
  private readonly body = element("tbody");
  private readonly grid = element("table", { role: "grid", tabindex: "-1" });
  private readonly widths = element("colgroup");
  private readonly before = element("tr", { "aria-hidden": "true", class: "space" }, element("td"));
  private readonly after = element("tr", { "aria-hidden": "true", class: "space" }, element("td"));
  private readonly lines = new Map<number, HTMLTableRowElement>();
  private sorted: { column: number; isDown: boolean };
  private shown: T[] = [];
  /** The natural width of each column, in letters. */
  private sizes: number[] = [];
  private texts: string[] | null = null;
  /** The focused row. */
  private active = 0;
  private scroller: HTMLElement | null = null;
  private readonly later = onNextFrame(this.host, () => this.draw());

  constructor(
    private readonly columns: Column<T>[],
    private rows: T[],
    private readonly choose: ((row: T) => void) | undefined,
    private readonly options: TableOptions<T>,
  ) {
    const { state = {}, tools = [] } = options;
    this.sorted = {
      column: columns.findIndex((column) => column.title === state.column),
      isDown: state.isDown ?? true,
    };
    this.filter.value = typeof state.filter === "string" ? state.filter : "";
    const save = element("button", { type: "button", title: "Save these rows as CSV" }, "CSV");
    save.addEventListener("click", () => this.save());
    this.filter.addEventListener("input", () => this.refilter());
    this.grid.append(this.widths, element("thead", {}, this.head()), this.body);
    const search = options.isSearched === false ? [] : [this.filter];
    const bar = element("div", { class: "tools" }, ...tools, ...search, save, this.counted);
    // The heading of the table sticks below the tools, which may take several lines.
    new ResizeObserver(() => this.host.style.setProperty("--tools", `${bar.offsetHeight}px`)).observe(bar);
    this.host.append(bar, this.grid);
    this.listen();
    this.arrange();
  }

  setRows(rows: T[]): void {
    this.rows = rows;
    this.texts = null;
    this.arrange();
  }

  /** Updates the selected row. */
  mark(): void {
    const { isChosen } = this.options;
    if (!isChosen) return;
    for (const [at, line] of this.lines) {
      const row = this.shown[at];
      line.setAttribute("aria-selected", String(row !== undefined && isChosen(row)));
    }
  }

  private head(): HTMLElement {
    const head = element("tr");
    this.columns.forEach((column, number) => {
      const cell = element(
        "th",
        { scope: "col", tabindex: "0", "aria-sort": "none", class: side(column) },
        column.title,
      );
      if (column.hint) cell.title = column.hint;
      const sort = (): void => this.sortBy(number);
      cell.addEventListener("click", sort);
      cell.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        sort();
      });
      head.append(cell);
    });
    return head;
  }

  private sortBy(column: number): void {
    const isText = !this.columns[column]?.value;
    // Initially, names are sorted ascending and numbers descending.
    const isDown = this.sorted.column === column ? !this.sorted.isDown : !isText;
    this.sorted = { column, isDown };
    this.tell();
    this.arrange();
  }

  private refilter(): void {
    this.tell();
    this.active = 0;
    this.arrange();
    const top = this.host.getBoundingClientRect().top - (this.scroller?.getBoundingClientRect().top ?? 0);
    if (this.scroller && top < 0) this.scroller.scrollTop += top;
  }

  private tell(): void {
    const column = this.columns[this.sorted.column]?.title;
    this.options.changed?.({
      filter: this.filter.value,
      isDown: this.sorted.isDown,
      ...(column === undefined ? {} : { column }),
    });
  }

  /** Filters and sorts, then draws. */
  private arrange(): void {
    this.shown = this.sort(this.filtered());
    this.active = Math.min(this.active, Math.max(0, this.shown.length - 1));
    const all = this.rows.length;
    this.counted.textContent = this.shown.length === all ? count(all) : `${count(this.shown.length)} of ${count(all)}`;
    this.grid.setAttribute("aria-rowcount", String(this.shown.length + 1));
    [...(this.grid.tHead?.rows[0]?.cells ?? [])].forEach((cell, number) => {
      const isSorted = number === this.sorted.column;
      cell.setAttribute("aria-sort", isSorted ? (this.sorted.isDown ? "descending" : "ascending") : "none");
    });
    this.measure();
    this.lines.clear();
    this.body.replaceChildren(this.before, this.after);
    this.draw();
    this.later();
  }

  private filtered(): T[] {
    const words = this.filter.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    if (words.length === 0) return [...this.rows];
    const named = this.columns.filter((column) => !column.value);
    const looked = named.length > 0 ? named : this.columns;
    this.texts ??= this.rows.map((row) =>
      looked
        .map((column) => column.text(row))
        .join("\n")
        .toLowerCase(),
    );
    const texts = this.texts;
    return this.rows.filter((_, at) => words.every((word) => texts[at]?.includes(word)));
  }

  private sort(rows: T[]): T[] {
    const column = this.columns[this.sorted.column];
    if (!column) return rows;
    const sign = this.sorted.isDown ? -1 : 1;
    const { value } = column;
    if (value) return rows.sort((one, other) => sign * compare(value(one), value(other)));
    return rows.sort((one, other) => sign * order.compare(column.text(one), column.text(other)));
  }

  /** Columns keep their width while scrolling, because it is computed from a sample of all rows. */
  private measure(): void {
    const step = Math.max(1, Math.floor(this.shown.length / 500));
    this.sizes = this.columns.map((column) => {
      let most = column.title.length + 2;
      for (let at = 0; at < this.shown.length; at += step)
        most = Math.max(most, column.text(this.shown[at] as T).length);
      return Math.min(most + (column.color ? 2 : 0), column.value ? 24 : 60);
    });
    this.fit();
  }

  /** Shrinks wide text columns to make room for others, down to a minimum. */
  private fit(): void {
    const edge = 18;
    const room = (this.host.clientWidth - this.columns.length * edge) / letter(this.host);
    const sizes = [...this.sizes];
    const first = Math.min(sizes[0] ?? 0, 24);
    const rest = sizes.slice(1).reduce((sum, size) => sum + size, 0);
    const wide = sizes.map((size, number) =>
      number > 0 && !this.columns[number]?.value ? Math.max(0, size - NARROWEST) : 0,
    );
    const spare = wide.reduce((sum, size) => sum + size, 0);
    const missing = this.host.isConnected ? first + rest - room : 0;
    const part = missing > 0 && spare > 0 ? Math.min(1, missing / spare) : 0;
    const fitted = sizes.map((size, number) => size - part * (wide[number] ?? 0));
    this.widths.replaceChildren(
      ...fitted.map((size, number) =>
        element("col", number === 0 ? {} : { style: `width: calc(${size.toFixed(2)}ch + ${edge}px)` }),
      ),
    );
    const least = fitted.slice(1).reduce((sum, size) => sum + size, first);
    this.grid.style.minWidth = `calc(${least.toFixed(2)}ch + ${fitted.length * edge}px)`;
  }

  private listen(): void {
    let width = 0;
    new ResizeObserver(() => {
      if (this.host.clientWidth !== width) this.fit();
      width = this.host.clientWidth;
      this.later();
    }).observe(this.host);
    this.grid.addEventListener("keydown", (event) => this.key(event));
    // Keyboard navigation continues from the focused row.
    this.body.addEventListener("focusin", (event) => {
      const at = Number((event.target as HTMLElement).closest("tr")?.dataset["at"] ?? -1);
      if (at >= 0) this.active = at;
    });
    this.body.addEventListener("click", (event) => this.press(event, this.choose));
    this.body.addEventListener("dblclick", (event) => this.press(event, this.options.open));
  }

  private press(event: MouseEvent, work?: (row: T) => void): void {
    const at = Number((event.target as HTMLElement).closest("tr")?.dataset["at"] ?? -1);
    const row = this.shown[at];
    if (row === undefined) return;
    this.focus(at);
    work?.(row);
    this.mark();
  }

  private key(event: KeyboardEvent): void {
    if ((event.target as HTMLElement).closest("thead")) return;
    const page = Math.max(1, Math.floor((this.scroller?.clientHeight ?? 300) / ROW) - 2);
    const step = stepOf(event.key, page);
    const row = this.shown[this.active];
    const isPressed = event.key === "Enter" || event.key === " ";
    if (step === undefined && !(isPressed && row !== undefined)) return;
    event.preventDefault();
    event.stopPropagation();
    if (step !== undefined) return this.focus(this.active + step);
    if (row === undefined) return;
    const { open } = this.options;
    if (event.key === "Enter" && open) open(row);
    else this.choose?.(row);
    this.mark();
  }

  private focus(at: number): void {
    const before = this.lines.get(this.active);
    if (before) before.tabIndex = -1;
    this.active = Math.min(Math.max(at, 0), this.shown.length - 1);
    this.reveal();
    this.draw();
    const line = this.lines.get(this.active);
    if (!line) return;
    line.tabIndex = 0;
    line.focus({ preventScroll: true });
  }

  /** Scrolls to the focused row. */
  private reveal(): void {
    const box = this.find();
    if (!box) return;
    const head = this.grid.tHead?.getBoundingClientRect().bottom ?? 0;
    const top = this.body.getBoundingClientRect().top + this.active * ROW;
    const outside = box.getBoundingClientRect();
    const [first, last] = [Math.max(head, outside.top), outside.top + box.clientHeight - ROW];
    if (top < first) box.scrollTop -= first - top;
    else if (top > last) box.scrollTop += top - last;
  }

  /** The scrolling element around the table. */
  private find(): HTMLElement | null {
    if (this.scroller?.contains(this.host)) return this.scroller;
    let at = this.host.parentElement;
    while (at && !/auto|scroll/.test(getComputedStyle(at).overflowY)) at = at.parentElement;
    const found = at;
    if (!found || found === this.scroller) return found;
    this.scroller = found;
    const follow = (): void => {
      if (found.contains(this.host)) this.draw();
      else found.removeEventListener("scroll", follow);
    };
    found.addEventListener("scroll", follow, { passive: true });
    return found;
  }

  /** The range of visible rows, with an exclusive end. */
  private window(): [number, number] {
    const box = this.host.isConnected ? this.find() : null;
    if (!box) return [0, Math.min(this.shown.length, 40)];
    const top = this.body.getBoundingClientRect().top;
    const outside = box.getBoundingClientRect();
    const first = Math.floor((outside.top - top) / ROW) - SPARE;
    const last = Math.ceil((outside.top + box.clientHeight - top) / ROW) + SPARE;
    const from = Math.min(Math.max(0, first), this.shown.length);
    return [from, Math.max(from, Math.min(this.shown.length, last))];
  }

  private draw(): void {
    const [from, to] = this.window();
    const hadFocus = this.body.contains(document.activeElement);
    for (const [at, line] of this.lines) {
      if (at >= from && at < to) continue;
      line.remove();
      this.lines.delete(at);
    }
    let next = this.after;
    for (let at = to - 1; at >= from; at--) {
      const line = this.lines.get(at) ?? this.line(at);
      if (!this.lines.has(at)) this.body.insertBefore(line, next);
      this.lines.set(at, line);
      next = line;
    }
    this.before.style.height = `${from * ROW}px`;
    this.after.style.height = `${(this.shown.length - to) * ROW}px`;
    if (hadFocus && !this.body.contains(document.activeElement)) this.grid.focus({ preventScroll: true });
  }

  private line(at: number): HTMLTableRowElement {
    const row = this.shown[at] as T;
    const { isChosen } = this.options;
    const isReachable = this.choose !== undefined || this.options.open !== undefined;
    const line = element("tr", { "data-at": String(at), "aria-rowindex": String(at + 2) });
    if (isReachable) line.tabIndex = at === this.active ? 0 : -1;
    if (isChosen) line.setAttribute("aria-selected", String(isChosen(row)));
    line.append(...this.columns.map((column) => cell(column, row)));
    return line;
  }

  private save(): void {
    const { columns, shown } = this;
    const rows = shown.map((row) =>
      columns.map((column) => (column.value ? number(column.value(row)) : column.text(row))),
    );
    saveCsv(
      this.options.name ?? "traceloom",
      columns.map((column) => column.csv ?? column.title),
      rows,
    );
  }
}
