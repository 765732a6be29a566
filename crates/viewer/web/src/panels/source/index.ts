// Source with the cost of each line; without source, the places that occur in a trace.

import { ask } from "../../api";
import { bytes, count, duration, share } from "../../format";
import { callPanel, keepLink, selectName, store } from "../../store";
import { readyTraces } from "../../store/state";
import type { SourceLink } from "../../store/panels";
import { element, failure, note, switcher } from "../../widgets/dom";
import { table, type Column } from "../../widgets/table";
import { PlaceRow, type FileAnswer, type Level, type SourceOfTrace, type SubRow } from "../../wire";
import { lasting, type Panel, type Watch } from "../panel";
import { linkFrom } from "./kept";
import { Listing } from "./listing";
import { CallsBeside, type Ways } from "./sub";

type FileRow = SourceOfTrace["files"][number];
type File = FileRow & { trace: number; whole: number };
type Sub = SubRow & { trace: number; whole: number };
type PlacesFile = Extract<FileAnswer, { kind: "places" }>;

class Source {
  readonly host = element("div", { class: "sheet source" });
  private readonly list = element("div", { class: "scroll list" });
  private readonly head = element("div", { class: "tools" });
  private readonly body = element("div", { class: "fill" });
  private readonly beside = new CallsBeside();
  private readonly listing = new Listing(
    (sub) => this.openSub(sub),
    (line) => this.choose(line),
  );
  private kept: SourceLink = {};
  private traces: SourceOfTrace[] = [];
  private asked = "";
  private opened = "";
  private listed = "";
  private span: unknown = null;
  private linked: unknown;
  private turn = 0;

  constructor() {
    this.host.append(this.list, element("div", { class: "main" }, this.head, this.body), this.beside.host);
  }

  watch(watch: Watch): void {
    watch(
      ({ isDark }) => isDark,
      () => this.listing.refresh(),
    );
  }

  /** Follows the traces, links from other panels, and the selected span. */
  async update(): Promise<void> {
    const linked = store.state.links["source"];
    if (linked !== this.linked) {
      this.linked = linked;
      this.kept = linkFrom(linked);
    }
    const { span } = store.state.selection;
    if (span !== this.span && span?.file) {
      const trace = store.state.server.tracks[span.track]?.trace;
      this.kept = { ...this.kept, trace, path: span.file, line: span.line ?? undefined, file: undefined };
    }
    this.span = span;
    await this.load();
  }

  private async load(): Promise<void> {
    const ready = readyTraces(store.state);
    const asked = ready.join();
    if (asked === "") return this.body.replaceChildren(note("Reading the trace …"));
    if (asked !== this.asked) {
      const turn = ++this.turn;
      if (this.asked === "") this.body.replaceChildren(note("Reading the lines …"));
      const { traces } = await ask("source", {});
      if (turn !== this.turn) return;
      [this.traces, this.asked, this.listed, this.opened] = [traces, asked, "", ""];
    }
    this.showLists();
    await this.open();
  }

  private keep(change: SourceLink): void {
    this.kept = { ...this.kept, ...change };
    const { trace, file, line, level, sub, list } = this.kept;
    const link: SourceLink = { trace, file, line, level, sub, list };
    this.linked = link;
    keepLink("source", link);
  }

  /** A line was chosen; its callees are shown next to the source. */
  private choose(line: number): void {
    this.keep({ line });
    const called = this.listing.callsIn(line);
    if (called.length === 0) return;
    this.keep({ sub: undefined });
    this.beside.showLine(line, called, this.ways(this.kept.trace ?? 0));
  }

  private go(change: SourceLink): void {
    this.keep(change);
    void this.load().catch((error: unknown) => this.body.replaceChildren(failure(error)));
  }

  private files(): File[] {
    return this.traces.flatMap((one) => one.files.map((file) => ({ ...file, trace: one.trace, whole: one.time_ns })));
  }

  /** Files, or subs if the profiler recorded them. */
  private showLists(): void {
    const hasSubs = this.traces.some((one) => one.kind === "lines" && one.subs.length > 0);
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
    const bytesOf = (file: File): number => ("bytes" in file ? file.bytes : 0);
    const hasBytes = files.some((file) => bytesOf(file) > 0);
    const columns: Column<File>[] = [{ title: "file", text: (file) => shortName(file.name) }];
    if (isTimed)
      columns.push({
        title: "time",
        text: (file) => duration(file.time_ns),
        value: (file) => file.time_ns,
        bar: (file) => file.time_ns / Math.max(1, file.whole),
        csv: "time_ns",
      });
    if (hasBytes) columns.push({ title: "bytes", text: (file) => bytes(bytesOf(file)), value: bytesOf });
    columns.push({
      title: this.traces.some((one) => one.kind === "lines") ? "stmts" : "count",
      text: (file) => count(file.count),
      value: (file) => file.count,
    });
    const isChosen = (file: File): boolean => file.trace === this.kept.trace && file.id === this.kept.file;
    return table(
      columns,
      files,
      (file) => this.go({ trace: file.trace, file: file.id, path: undefined, line: undefined }),
      { tools, isChosen, name: "files" },
    );
  }

  private subTable(tools: HTMLElement[]): HTMLElement {
    const ofTrace = (one: SourceOfTrace): SubRow[] => (one.kind === "lines" ? one.subs : []);
    const subs: Sub[] = this.traces.flatMap((one) =>
      ofTrace(one).map((sub) => ({ ...sub, trace: one.trace, whole: one.time_ns })),
    );
    const columns: Column<Sub>[] = [
      { title: "sub", text: (sub) => sub.name },
      {
        title: "self",
        text: ({ figures }) => duration(figures.excl_ns),
        value: ({ figures }) => figures.excl_ns,
        bar: (sub) => sub.figures.excl_ns / Math.max(1, sub.whole),
        csv: "self_ns",
      },
      {
        title: "total",
        text: ({ figures }) => duration(figures.incl_ns),
        value: ({ figures }) => figures.incl_ns,
        csv: "total_ns",
      },
      { title: "calls", text: ({ figures }) => count(figures.count), value: ({ figures }) => figures.count },
    ];
    const choose = (sub: Sub): void => {
      if (sub.file !== null && sub.line !== null)
        this.go({ trace: sub.trace, file: sub.file, path: undefined, line: sub.line });
      this.openSub(sub.name, sub.trace);
    };
    return table(columns, subs, choose, { tools, isChosen: (sub) => sub.name === this.kept.sub, name: "subs" });
  }

  /** The requested file, by number or path; by default, the most expensive one. */
  private wanted(): File | undefined {
    const files = this.files();
    const { trace, file, path } = this.kept;
    const ofTrace = files.filter((one) => trace === undefined || one.trace === trace);
    if (path !== undefined)
      return ofTrace.find((one) => one.name === path) ?? ofTrace.find((one) => one.name.endsWith(`/${path}`));
    return ofTrace.find((one) => one.id === file) ?? files[0];
  }

  private async open(): Promise<void> {
    const file = this.wanted();
    if (!file) {
      const missing =
        this.kept.path === undefined
          ? "This trace has no source files."
          : `${this.kept.path} is not a file of this trace.`;
      return this.body.replaceChildren(note(missing));
    }
    this.kept = { ...this.kept, trace: file.trace, file: file.id, path: undefined };
    const level = this.kept.level ?? "line";
    const opened = [this.asked, file.trace, file.id, level].join();
    if (opened !== this.opened) {
      const turn = ++this.turn;
      const answer = await ask("source/file", { trace: file.trace, file: file.id, level });
      if (turn !== this.turn) return;
      this.opened = opened;
      this.showFile(answer, file, level);
    }
    this.listing.reveal(this.kept.line);
    (this.list.lastElementChild as { refresh?(): void } | null)?.refresh?.();
    if (this.kept.sub !== undefined && this.beside.isHidden) this.openSub(this.kept.sub, file.trace);
  }

  private showFile(answer: FileAnswer, file: File, level: Level): void {
    const facts = [
      answer.time_ns > 0 ? `${duration(answer.time_ns)} (${share(answer.time_ns, file.whole)})` : "",
      `${count(answer.count)} ${answer.kind === "lines" ? "statements" : "rows"}`,
    ];
    if (answer.kind === "places" && answer.bytes > 0) facts.push(bytes(answer.bytes));
    if (answer.kind === "lines" && !answer.has_text) facts.push("the trace does not contain the source text");
    if (answer.kind === "lines" && answer.merged > 0) facts.push(`with ${count(answer.merged)} identical evals`);
    const shown =
      answer.lines.length < answer.all_lines
        ? [`the first ${count(answer.lines.length)} of ${count(answer.all_lines)} lines`]
        : [];
    const title = element("b", { class: "path", title: answer.name }, answer.name);
    this.head.replaceChildren(
      ...this.levels(file, level),
      title,
      element("span", { class: "note" }, [...facts, ...shown].filter((fact) => fact !== "").join(" · ")),
    );
    if (answer.kind === "places") return this.body.replaceChildren(this.places(answer));
    if (answer.parent) this.head.append(this.origin(file.trace, answer.parent));
    this.body.replaceChildren(this.listing.host);
    this.listing.show(answer);
  }

  private levels(file: File, level: Level): HTMLElement[] {
    const own = this.traces.find((one) => one.trace === file.trace);
    if (own?.kind !== "lines" || !own.has_blocks) return [];
    const levels = (["line", "block", "sub"] as const).map((id) => ({ id, title: id, hint: `Statements by ${id}` }));
    return [switcher("Level", levels, level, (id) => this.go({ level: id }))];
  }

  /** The call of a string eval. */
  private origin(trace: number, [file, line]: [number, number]): HTMLElement {
    const button = element("button", { type: "button", class: "link" }, `a string eval on line ${line}`);
    button.addEventListener("click", () => this.go({ trace, file, path: undefined, line }));
    return button;
  }

  private places(answer: PlacesFile): HTMLElement {
    const most = Math.max(1, ...answer.lines.map((row) => row[PlaceRow.self_ns] || row[PlaceRow.bytes]));
    const columns: Column<PlaceRow>[] = [
      { title: "what", text: ([, kind, name]) => `${kind}  ${name}` },
      { title: "line", text: ([line]) => (line ? String(line) : ""), value: ([line]) => line ?? 0 },
      amount("count", PlaceRow.count, count),
    ];
    if (answer.lines.some((row) => row[PlaceRow.total_ns] > 0)) {
      const self = amount("self", PlaceRow.self_ns, duration);
      columns.push({ ...self, bar: (row) => row[PlaceRow.self_ns] / most, csv: "self_ns" });
      columns.push({ ...amount("total", PlaceRow.total_ns, duration), csv: "total_ns" });
    }
    if (answer.bytes > 0) {
      columns.push({ ...amount("bytes", PlaceRow.bytes, bytes), bar: (row) => row[PlaceRow.bytes] / most });
    }
    const choose = ([line, kind, name]: PlaceRow): void => {
      this.keep({ line: line ?? undefined });
      if (kind === "span") selectName(name);
      if (kind === "log") callPanel("log");
      if (kind === "allocation") callPanel("memory");
    };
    const host = element("div", { class: "scroll" });
    host.append(
      table(columns, answer.lines, choose, {
        isChosen: ([line]) => (line ?? undefined) === this.kept.line,
        name: "places",
      }),
    );
    return host;
  }

  /** Shows a sub in the timeline, and with callers and callees next to the source. */
  private openSub(name: string, trace = this.kept.trace ?? 0): void {
    this.keep({ sub: name, trace });
    selectName(name);
    void this.beside.showSub(trace, name, this.ways(trace));
  }

  private ways(trace: number): Ways {
    return {
      sub: (name) => this.openSub(name, trace),
      place: (file, line) => this.go({ trace, file, path: undefined, line }),
    };
  }
}

/** A column of figures. */
function amount(
  title: string,
  at: typeof PlaceRow.count | typeof PlaceRow.total_ns | typeof PlaceRow.self_ns | typeof PlaceRow.bytes,
  show: (value: number) => string,
): Column<PlaceRow> {
  return { title, text: (row) => show(row[at]), value: (row) => row[at] };
}

function shortName(path: string): string {
  return path.length > 40 ? `…${path.slice(-39)}` : path;
}

export const source: Panel = {
  id: "source",
  title: "Source",
  isUseful: ({ server }) => server.traces.some((trace) => trace.has_source),
  create: () => lasting(() => new Source()),
};
