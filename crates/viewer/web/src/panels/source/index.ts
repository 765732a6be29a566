// Source with what each line cost; where there is no source, the places that a trace names.

import { ask } from "../api";
import { bytes, count, duration, share } from "../format";
import { panelState, rememberPanelState } from "../link";
import { store } from "../store";
import { openPanelWith, selectName } from "./jump";
import { element, failure, note, switcher, table, type Column, type Panel } from "./panel";
import { Listing } from "./sourcelisting";
import { lineCalls, subDetails } from "./sourcesub";
import type { FileAnswer, FileRow, PlacesAnswer, SourceList, SubRow } from "./sourcetypes";

/** What a link keeps; another panel may name a file by its path. */
interface Kept {
  trace?: number | undefined;
  file?: number | undefined;
  path?: string | undefined;
  line?: number | undefined;
  level?: string | undefined;
  sub?: string | undefined;
  list?: "files" | "subs" | undefined;
}

type File = FileRow & { trace: number; whole: number };
type Sub = SubRow & { trace: number; whole: number };

class Source {
  readonly host = element("div", { class: "sheet source" });
  private readonly list = element("div", { class: "scroll list" });
  private readonly head = element("div", { class: "tools" });
  private readonly body = element("div", { class: "fill" });
  private readonly aside = element("aside", { class: "aside", "aria-label": "Callers and callees", hidden: "" });
  private readonly listing = new Listing((sub) => this.openSub(sub), (line) => this.choose(line));
  private kept: Kept = {};
  private traces: SourceList[] = [];
  private asked = "";
  private opened = "";
  private listed = "";
  private span: unknown = null;
  private linked: unknown;
  private turn = 0;

  constructor() {
    this.host.append(this.list, element("div", { class: "main" }, this.head, this.body), this.aside);
    store.on("theme", () => this.listing.refresh());
  }

  /** Follows the traces, links from other panels, and the span that is selected. */
  async update(): Promise<void> {
    const linked = panelState("source");
    if (linked !== this.linked) {
      this.linked = linked;
      this.kept = keptOf(linked);
    }
    const { span } = store.selection;
    if (span !== this.span && span?.file) {
      const trace = store.state.tracks[span.track]?.trace;
      this.kept = { ...this.kept, trace, path: span.file, line: span.line ?? undefined, file: undefined };
    }
    this.span = span;
    await this.load();
  }

  private async load(): Promise<void> {
    const ready = store.state.traces.flatMap((trace, number) => (trace.state === "ready" ? [number] : []));
    const asked = ready.join();
    if (asked === "") return this.body.replaceChildren(note("Reading the trace …"));
    if (asked !== this.asked) {
      const turn = ++this.turn;
      if (this.asked === "") this.body.replaceChildren(note("Reading the lines …"));
      const { traces } = await ask<{ traces: SourceList[] }>("source");
      if (turn !== this.turn) return;
      [this.traces, this.asked, this.listed, this.opened] = [traces, asked, "", ""];
    }
    this.showLists();
    await this.open();
  }

  private keep(change: Kept): void {
    this.kept = { ...this.kept, ...change };
    const { trace, file, line, level, sub, list } = this.kept;
    this.linked = { trace, file, line, level, sub, list };
    rememberPanelState("source", this.linked);
  }

  /** A line was chosen: whom it calls stands beside the source. */
  private choose(line: number): void {
    this.keep({ line });
    const called = this.listing.callsIn(line);
    if (called.length === 0) return;
    this.keep({ sub: undefined });
    lineCalls(line, called, this.aside, (name) => this.openSub(name));
    this.aside.hidden = false;
  }

  private go(change: Kept): void {
    this.keep(change);
    void this.load().catch((error: unknown) => this.body.replaceChildren(failure(error)));
  }

  private files(): File[] {
    return this.traces.flatMap((one) => one.files.map((file) => ({ ...file, trace: one.trace, whole: one.time_ns })));
  }

  /** Files, or the subs of a profiler that knows them. */
  private showLists(): void {
    const hasSubs = this.traces.some((one) => (one.subs?.length ?? 0) > 0);
    const list = hasSubs && this.kept.list === "subs" ? "subs" : "files";
    if (list === this.listed) return (this.list.lastElementChild as { refresh?(): void } | null)?.refresh?.();
    this.listed = list;
    const lists = [
      { id: "files" as const, title: "Files" },
      { id: "subs" as const, title: "Subs" },
    ];
    const tools = hasSubs ? [switcher("List", lists, list, (id) => this.go({ list: id }))] : [];
    this.list.replaceChildren(list === "subs" ? this.subTable(tools) : this.fileTable(tools));
  }

  private fileTable(tools: HTMLElement[]): HTMLElement {
    const files = this.files();
    const isTimed = files.some((file) => file.time_ns > 0);
    const hasBytes = files.some((file) => (file.bytes ?? 0) > 0);
    const columns: Column<File>[] = [{ title: "file", text: (file) => shortName(file.name) }];
    if (isTimed) columns.push({ title: "time", text: (file) => duration(file.time_ns), value: (file) => file.time_ns, bar: (file) => file.time_ns / Math.max(1, file.whole), csv: "time_ns" });
    if (hasBytes) columns.push({ title: "bytes", text: (file) => bytes(file.bytes ?? 0), value: (file) => file.bytes ?? 0 });
    columns.push({ title: this.traces.some((one) => one.kind === "lines") ? "stmts" : "count", text: (file) => count(file.count), value: (file) => file.count });
    const isChosen = (file: File): boolean => file.trace === this.kept.trace && file.id === this.kept.file;
    return table(columns, files, (file) => this.go({ trace: file.trace, file: file.id, path: undefined, line: undefined }), { tools, isChosen, name: "files" });
  }

  private subTable(tools: HTMLElement[]): HTMLElement {
    const subs: Sub[] = this.traces.flatMap((one) => (one.subs ?? []).map((sub) => ({ ...sub, trace: one.trace, whole: one.time_ns })));
    const columns: Column<Sub>[] = [
      { title: "sub", text: (sub) => sub.name },
      { title: "own", text: ({ figures }) => duration(figures.excl_ns), value: ({ figures }) => figures.excl_ns, bar: (sub) => sub.figures.excl_ns / Math.max(1, sub.whole), csv: "own_ns" },
      { title: "total", text: ({ figures }) => duration(figures.incl_ns), value: ({ figures }) => figures.incl_ns, csv: "total_ns" },
      { title: "calls", text: ({ figures }) => count(figures.count), value: ({ figures }) => figures.count },
    ];
    const choose = (sub: Sub): void => {
      if (sub.file !== null && sub.line !== null) this.go({ trace: sub.trace, file: sub.file, path: undefined, line: sub.line });
      this.openSub(sub.name, sub.trace);
    };
    return table(columns, subs, choose, { tools, isChosen: (sub) => sub.name === this.kept.sub, name: "subs" });
  }

  /** The file that is asked for, by number or by path; the most costly one where none is. */
  private wanted(): File | undefined {
    const files = this.files();
    const { trace, file, path } = this.kept;
    const ofTrace = files.filter((one) => trace === undefined || one.trace === trace);
    if (path !== undefined) return ofTrace.find((one) => one.name === path) ?? ofTrace.find((one) => one.name.endsWith(`/${path}`));
    return ofTrace.find((one) => one.id === file) ?? files[0];
  }

  private async open(): Promise<void> {
    const file = this.wanted();
    if (!file) {
      const missing = this.kept.path === undefined ? "No row of this trace names a file." : `${this.kept.path} is not among the files of the trace.`;
      return this.body.replaceChildren(note(missing));
    }
    this.kept = { ...this.kept, trace: file.trace, file: file.id, path: undefined };
    const level = this.kept.level ?? "line";
    const opened = [this.asked, file.trace, file.id, level].join();
    if (opened !== this.opened) {
      const turn = ++this.turn;
      const answer = await ask<FileAnswer | PlacesAnswer>("source/file", { trace: file.trace, file: file.id, level });
      if (turn !== this.turn) return;
      this.opened = opened;
      this.showFile(answer, file, level);
    }
    this.listing.reveal(this.kept.line);
    (this.list.lastElementChild as { refresh?(): void } | null)?.refresh?.();
    if (this.kept.sub !== undefined && this.aside.hidden) this.openSub(this.kept.sub, file.trace);
  }

  private showFile(answer: FileAnswer | PlacesAnswer, file: File, level: string): void {
    const facts = [answer.time_ns > 0 ? `${duration(answer.time_ns)} (${share(answer.time_ns, file.whole)})` : "", `${count(answer.count)} ${answer.kind === "lines" ? "statements" : "rows"}`];
    if (answer.kind === "places" && answer.bytes > 0) facts.push(bytes(answer.bytes));
    if (answer.kind === "lines" && !answer.has_text) facts.push("the trace holds no text of it");
    if (answer.kind === "lines" && answer.merged > 0) facts.push(`with ${count(answer.merged)} more evals that are the same`);
    const shown = answer.lines.length < answer.all_lines ? [`the first ${count(answer.lines.length)} of ${count(answer.all_lines)} lines`] : [];
    const title = element("b", { class: "path", title: answer.name }, answer.name);
    this.head.replaceChildren(...this.levels(file, level), title, element("span", { class: "note" }, [...facts, ...shown].filter((fact) => fact !== "").join(" · ")));
    if (answer.kind === "places") return this.body.replaceChildren(this.places(answer));
    if (answer.parent) this.head.append(this.origin(file.trace, answer.parent));
    this.body.replaceChildren(this.listing.host);
    this.listing.show(answer);
  }

  private levels(file: File, level: string): HTMLElement[] {
    if (!this.traces.find((one) => one.trace === file.trace)?.has_blocks) return [];
    const levels = ["line", "block", "sub"].map((id) => ({ id, title: id, hint: `Statements by ${id}` }));
    return [switcher("Level", levels, level, (id) => this.go({ level: id }))];
  }

  /** Where a string eval was called. */
  private origin(trace: number, [file, line]: [number, number]): HTMLElement {
    const button = element("button", { type: "button", class: "link" }, `a string eval in line ${line}`);
    button.addEventListener("click", () => this.go({ trace, file, path: undefined, line }));
    return button;
  }

  private places(answer: PlacesAnswer): HTMLElement {
    type Row = PlacesAnswer["lines"][number];
    const most = Math.max(1, ...answer.lines.map(([, , , , , own, size]) => own || size));
    const columns: Column<Row>[] = [
      { title: "what", text: ([, kind, name]) => `${kind}  ${name}` },
      { title: "line", text: ([line]) => (line > 0 ? String(line) : ""), value: ([line]) => line },
      { title: "count", text: ([, , , of]) => count(of), value: ([, , , of]) => of },
    ];
    if (answer.lines.some(([, , , , total]) => total > 0)) {
      columns.push({ title: "own", text: ([, , , , , own]) => duration(own), value: ([, , , , , own]) => own, bar: ([, , , , , own]) => own / most, csv: "own_ns" });
      columns.push({ title: "total", text: ([, , , , total]) => duration(total), value: ([, , , , total]) => total, csv: "total_ns" });
    }
    if (answer.bytes > 0) columns.push({ title: "bytes", text: ([, , , , , , size]) => bytes(size), value: ([, , , , , , size]) => size, bar: ([, , , , , , size]) => size / most });
    const choose = ([line, kind, name]: Row): void => {
      this.keep({ line });
      if (kind === "span") selectName(name);
      if (kind === "log") openPanelWith("log");
      if (kind === "allocation") openPanelWith("memory");
    };
    const host = element("div", { class: "scroll" });
    host.append(table(columns, answer.lines, choose, { isChosen: ([line]) => line === this.kept.line, name: "places" }));
    return host;
  }

  /** A sub: in the timeline, and with callers and callees beside the source. */
  private openSub(name: string, trace = this.kept.trace ?? 0): void {
    this.keep({ sub: name, trace });
    this.aside.hidden = false;
    selectName(name);
    void subDetails(trace, name, this.aside, {
      sub: (other) => this.openSub(other, trace),
      place: (file, line) => this.go({ trace, file, path: undefined, line }),
    });
  }
}

function shortName(path: string): string {
  return path.length > 40 ? `…${path.slice(-39)}` : path;
}

function keptOf(value: unknown): Kept {
  const given = value as Record<string, unknown> | undefined;
  const number = (key: string): number | undefined => (typeof given?.[key] === "number" ? given[key] : undefined);
  const text = (key: string): string | undefined => (typeof given?.[key] === "string" ? given[key] : undefined);
  const list = text("list") === "subs" ? "subs" : "files";
  return { trace: number("trace"), file: number("file"), line: number("line"), path: text("path"), level: text("level"), sub: text("sub"), list };
}

let panel: Source | null = null;

export const source: Panel = {
  id: "source",
  title: "Source",
  // Web Tracing Framework knows no places.
  isUseful: () => store.state.traces.some((trace) => trace.format !== "" && trace.format !== "wtf"),
  async show(host) {
    panel ??= new Source();
    host.append(panel.host);
    await panel.update();
  },
  update: () => panel?.update(),
};
