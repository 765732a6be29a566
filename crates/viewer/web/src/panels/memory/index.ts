// Memory: usage over time, allocation sites, and leaks.

import { ask } from "../../api";
import { bytes, count, duration } from "../../format";
import { callPanel, keepLink, lookAt, store, takesKeys } from "../../store";
import type { MemoryLink, MemoryList } from "../../store/panels";
import { baseName, type PageState } from "../../store/state";
import { palette } from "../../theme";
import { element, facts, failure, saveFile, switcher } from "../../widgets/dom";
import { when } from "../../widgets/jump";
import type { FlameWeight, MemoryAnswer, MemorySite as Site } from "../../wire";
import { lasting, type Panel, type Watch } from "../panel";
import { Curve } from "./curve";
import { listOf, placeOf } from "./lists";
import { svgOf } from "./svg";

/** The flame graph of each list; other lists show all allocations. */
const FLAMES: Partial<Record<MemoryList, readonly [FlameWeight, string]>> = {
  at: ["alive", "bytes in use at this time"],
  leaks: ["leaked", "bytes never freed"],
  often: ["count", "allocations"],
  peak: ["peak", "bytes in use at the peak"],
};

class Memory {
  readonly host = element("div", { class: "sheet memory" });
  private readonly figures = element("dl", { class: "sums" });
  private readonly curve = new Curve((ts) => this.pick(ts));
  private readonly growth = element(
    "p",
    { class: "note", hidden: "" },
    "The tracer recorded no addresses, so frees are unknown; only growth is shown.",
  );
  private readonly choice = element("div", { class: "tools" });
  private readonly table = element("div", { class: "scroll" });
  private readonly stack = element("aside", { class: "aside", "aria-label": "Stack of the chosen site", hidden: "" });
  private kept: MemoryLink = linkFrom(store.state.links["memory"]);
  /** The request of a link or another panel. */
  private linked: unknown = store.state.links["memory"];
  private report: MemoryAnswer | null = null;
  private chosen = -1;
  private turn = 0;
  private asked = "";
  private drawn = "";
  private moment: number | null = null;

  constructor() {
    const left = element("div", { class: "usage" }, this.curve.host, this.figures, this.growth);
    this.host.append(left, element("div", { class: "main" }, this.choice, this.table), this.stack);
  }

  watch(watch: Watch): void {
    watch(
      ({ isDark, view }) => [isDark, view],
      () => this.curve.draw(),
    );
  }

  private get trace(): number {
    const numbers = withMemory(store.state);
    return this.kept.trace !== undefined && numbers.includes(this.kept.trace) ? this.kept.trace : (numbers[0] ?? 0);
  }

  /** Follows the traces and the selected time of the timeline. */
  async update(): Promise<void> {
    const linked = store.state.links["memory"];
    const isAsked = linked !== this.linked;
    if (isAsked) [this.linked, this.kept] = [linked, linkFrom(linked)];
    const { span, event, range } = store.state.selection;
    const at = span?.ts_ns ?? event?.ts_ns ?? range?.to ?? null;
    if (at !== null && at !== this.moment && !isAsked) this.kept = { ...this.kept, at: Math.round(at), list: "at" };
    this.moment = at;
    const isShown = await this.load();
    if (isShown && takesKeys("memory")) this.table.querySelector<HTMLElement>("tr[tabindex='0']")?.focus();
  }

  /** A time was clicked. */
  private pick(ts: number): void {
    this.keep({ at: Math.round(ts), list: "at" });
    lookAt(ts);
  }

  private keep(change: MemoryLink): void {
    this.kept = { ...this.kept, ...change };
    this.linked = this.kept;
    keepLink("memory", this.kept);
    void this.load().catch((error: unknown) => this.table.replaceChildren(failure(error)));
  }

  /** Whether the newest answer is shown; an older one may arrive before it. */
  private async load(): Promise<boolean> {
    const trace = this.trace;
    const info = store.state.server.traces[trace];
    if (info?.state !== "ready") return false;
    const question = { trace, at: this.kept.at, function: this.kept.function, points: 512 };
    const asked = JSON.stringify([question, info.offset_ns]);
    const turn = ++this.turn;
    if (asked === this.asked) {
      this.showList();
      return true;
    }
    const report = await ask("memory", question);
    if (turn !== this.turn) return false;
    this.asked = asked;
    this.report = report;
    this.chosen = -1;
    this.stack.hidden = true;
    this.curve.show(report);
    this.showFigures(report);
    this.showList();
    return true;
  }

  private showFigures(report: MemoryAnswer): void {
    const { peak, is_coarse, is_growth_only } = report;
    const rows: [string, string, string?][] = [
      ["allocated", bytes(report.allocated_bytes), `${count(report.allocations)} allocations`],
    ];
    if (!is_growth_only) {
      rows.unshift(
        ["peak", `${is_coarse ? "at least " : ""}${bytes(peak.bytes)}`, `at ${when(peak.ts_ns)}`],
        ["never freed", bytes(report.live_bytes), `${count(report.live)} allocations`],
      );
      rows.push(
        ["churn", `${bytes(Math.round(report.churn_bytes_per_second))}/s`, `${count(report.frees)} frees`],
        ["temporary", count(report.temporary), "freed by the next event"],
        ["double frees", count(report.double_frees), "of memory already freed"],
        ["unknown frees", count(report.unknown_frees), "of unknown memory"],
        ["reused", count(report.reused), "addresses allocated again without a free"],
      );
    }
    this.growth.hidden = !is_growth_only;
    if (report.collections > 0) rows.push(["collections", count(report.collections), "of the garbage collector"]);
    this.figures.replaceChildren(
      ...rows.map(([name, value, about]) => {
        const isOdd = name.endsWith("frees") && value !== "0";
        return element(
          "div",
          { class: isOdd ? "odd" : "", title: about ?? "" },
          element("dt", {}, name),
          element("dd", {}, value, element("small", {}, about ?? "")),
        );
      }),
    );
  }

  private showList(): void {
    const { report } = this;
    if (!report) return;
    const lists: { id: MemoryList; title: string; hint: string }[] = report.is_growth_only
      ? [{ id: "growth", title: "Growth", hint: "Bytes allocated by each site, in quarters of the trace" }]
      : [
          { id: "peak", title: "At the peak", hint: "In use at the memory peak" },
          { id: "leaks", title: "Never freed", hint: "Still in use at the end" },
          { id: "hot", title: "Most bytes", hint: "Sites by allocated bytes" },
          { id: "often", title: "Most often", hint: "Sites by number of allocations" },
          { id: "growth", title: "Growth", hint: "Bytes allocated by each site, in quarters of the trace" },
          { id: "lifetimes", title: "Lifetimes", hint: "Lifetimes of freed memory" },
          ...(report.at
            ? [{ id: "at" as const, title: `At ${when(report.at.ts_ns)}`, hint: "In use at the chosen time" }]
            : []),
        ];
    const { function: name } = this.kept;
    if (name !== undefined)
      lists.push({
        id: "of",
        title: `In ${name.length > 40 ? `${name.slice(0, 39)}…` : name}`,
        hint: `Sites with ${name} in their stack, by allocated bytes`,
      });
    const list = lists.find(({ id }) => id === this.kept.list)?.id ?? lists[0]?.id ?? "hot";
    // A row keeps the focus as long as its list stays the same.
    const drawn = JSON.stringify([this.asked, list, withMemory(store.state)]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const focused = this.choice.querySelector(":focus")?.getAttribute("data-choice");
    this.choice.replaceChildren(
      ...this.traces(),
      switcher("List", lists, list, (id) => this.keep({ list: id })),
      this.flame(list),
      this.picture(),
    );
    this.choice.querySelector<HTMLElement>(`[data-choice="${focused ?? "-"}"]`)?.focus();
    const shown = listOf(
      list,
      report,
      (site) => this.choose(site),
      (site) => site.number === this.chosen,
    );
    this.table.replaceChildren(...shown);
  }

  private traces(): HTMLElement[] {
    const numbers = withMemory(store.state);
    if (numbers.length < 2) return [];
    const select = element("select", { "aria-label": "Trace" });
    for (const number of numbers) {
      const option = element(
        "option",
        { value: String(number) },
        baseName(store.state.server.traces[number]?.path ?? ""),
      );
      option.selected = number === this.trace;
      select.append(option);
    }
    select.addEventListener("change", () =>
      this.keep({ trace: Number(select.value), at: undefined, function: undefined }),
    );
    return [select];
  }

  /** The flame graph of the list. */
  private flame(list: MemoryList): HTMLElement {
    const [weight, about] = FLAMES[list] ?? (["bytes", "allocated bytes"] as const);
    const button = element("button", { type: "button", title: `Flame graph: ${about}` }, "Flame graph");
    button.addEventListener("click", () => callPanel("flame", { weight, at: this.kept.at ?? null }));
    return button;
  }

  private picture(): HTMLElement {
    const button = element("button", { type: "button", title: "Save the curve as an image" }, "SVG");
    button.addEventListener("click", () => {
      if (this.report) saveFile("memory.svg", [svgOf(this.report, palette())], "image/svg+xml");
    });
    return button;
  }

  /** Shows the stack of a site. */
  private choose(site: Site): void {
    this.chosen = site.number;
    const list = element("ol", { class: "stack" });
    for (const { function: name, file, line } of site.stack) {
      const where = file ? `${file}${line === null ? "" : `:${line}`}` : "";
      const frame = element("li", {}, element("b", {}, name));
      if (where !== "") {
        const open = element("button", { type: "button", class: "link", title: "Show the source line" }, where);
        open.addEventListener("click", () =>
          callPanel("source", { trace: this.trace, path: file ?? undefined, line: line ?? undefined }),
        );
        frame.append(open);
      }
      list.append(frame);
    }
    if (site.more_frames > 0) list.append(element("li", { class: "note" }, `and ${count(site.more_frames)} more`));
    const rows: [string, string][] = [
      ["bytes", `${bytes(site.bytes)} in ${count(site.count)} allocations`],
      ["never freed", site.live > 0 ? `${bytes(site.live_bytes)} in ${count(site.live)}` : ""],
      ["oldest", site.oldest_live_ns === null ? "" : `since ${when(site.oldest_live_ns)}`],
      ["mean lifetime", site.freed > 0 ? duration(site.lifetime_ns / site.freed) : ""],
      ["temporary", site.temporary > 0 ? count(site.temporary) : ""],
    ];
    const oldest = element(
      "button",
      { type: "button", title: "Show when the oldest was allocated" },
      "Show the oldest",
    );
    oldest.addEventListener("click", () => site.oldest_live_ns !== null && lookAt(site.oldest_live_ns));
    const tools = site.oldest_live_ns === null ? [] : [element("div", { class: "tools" }, oldest)];
    const empty = element("p", { class: "note" }, "The tracer recorded no stack.");
    this.stack.replaceChildren(
      element("h2", {}, placeOf(site)),
      facts(rows),
      ...tools,
      site.stack.length > 0 ? list : empty,
    );
    this.stack.hidden = false;
  }
}

function withMemory({ server }: PageState): number[] {
  return server.traces.flatMap((trace, number) => (trace.memory === null ? [] : [number]));
}

/** Restores a link from saved state, which may be anything. */
function linkFrom(value: unknown): MemoryLink {
  const kept = (typeof value === "object" ? value : null) as Record<keyof MemoryLink, unknown> | null;
  const made: MemoryLink = {};
  if (typeof kept?.trace === "number") made.trace = kept.trace;
  if (typeof kept?.at === "number") made.at = kept.at;
  if (typeof kept?.function === "string") made.function = kept.function;
  if (typeof kept?.list === "string") made.list = kept.list as MemoryList;
  return made;
}

export const memory: Panel = {
  id: "memory",
  title: "Memory",
  isUseful: (state) => withMemory(state).length > 0,
  create: () => lasting(() => new Memory()),
};
