// Durations of the spans of the selected name, and the longest ones.

import { ask } from "../../api";
import { count, duration, moment, share } from "../../format";
import { callPanel, keepLink, linkOf, store } from "../../store";
import { paintText, traceColor } from "../../theme";
import { traceLabel } from "../../timeline/names";
import { BusyMark, Latest } from "../../widgets/busy";
import { element, failure, note } from "../../widgets/dom";
import { showRow, showSpan } from "../../widgets/jump";
import { followView, range, rangeKey, rangeSwitch } from "../../widgets/range";
import { table, type Column, type TableElement } from "../../widgets/table";
import { Bin, type Found, type Histogram, type RangeQuery } from "../../wire";
import { fresh, type Panel, type Watch } from "../panel";
import { HistogramChart } from "./chart";
import { Scatter } from "./scatter";

/** Number of bins for many durations; with few durations, there are fewer. */
const BINS = 60;

const columns: Column<Found>[] = [
  { title: "Track", text: (row) => trackName(row.track) },
  { title: "At", text: (row) => moment(row.ts_ns), value: (row) => row.ts_ns, csv: "ts_ns" },
  { title: "Duration", text: (row) => duration(row.dur_ns), value: (row) => row.dur_ns ?? NaN, csv: "dur_ns" },
];

function trackName(number: number): string {
  const track = store.state.server.tracks[number];
  const thread = track?.tid === null || track === undefined ? "" : `thread ${track.tid}`;
  return track?.name || thread || track?.process || `track ${number}`;
}

/** Names of values, each once. */
function valueNames(): number[] {
  return [...new Set(store.state.server.counters.map((counter) => counter.name))];
}

class HistogramPanel {
  private readonly tools = element("div", { class: "tools" });
  private readonly figures = element("div", { class: "figures" });
  private readonly body = element("div", { class: "split" });
  private readonly busy = new BusyMark();
  private readonly latest = new Latest();
  private readonly listed = new Latest();
  private readonly chart = new HistogramChart((bin) => void this.list(bin));
  private readonly scatter: Scatter;
  private readonly title = element("p", { class: "note" });
  private readonly outliers = element("div", { class: "outliers" });
  private rows: TableElement<Found> | null = null;
  private places: Found[] = [];
  private at = -1;
  private data: Histogram | null = null;
  private asked: RangeQuery = {};
  private key = "";

  constructor(readonly host: HTMLElement) {
    host.classList.add("column");
    this.scatter = new Scatter((dur, ts) => void showRow({ ts, dur, ...(this.data ? { name: this.data.name } : {}) }));
    host.append(this.busy.host, this.tools, this.figures, this.body);
  }

  watch(watch: Watch): void {
    followView(watch, () => void this.update());
    watch(
      ({ isDark }) => isDark,
      () => this.mark(),
    );
  }

  private value(): number | null {
    const name = linkOf("histogram")?.value;
    const number = typeof name === "string" ? store.state.names.number(name) : undefined;
    return number !== undefined && valueNames().includes(number) ? number : null;
  }

  async update(): Promise<void> {
    const asked = range();
    const { name } = store.state.selection;
    const key = rangeKey(asked) + JSON.stringify([name, this.value()]);
    if (key === this.key) return this.mark();
    this.key = key;
    this.writeTools();
    if (name === null) return this.invite();
    try {
      await this.busy.during(this.load(asked, name));
    } catch (error) {
      this.key = "";
      this.body.replaceChildren(failure(error));
    }
  }

  private async load(asked: RangeQuery, name: number): Promise<void> {
    const data = await this.latest.ask((signal) => ask("histogram", { ...asked, name, bins: BINS }, signal));
    if (!data) return;
    [this.data, this.asked] = [data, asked];
    this.writeFigures(data);
    if (data.calls === 0)
      return this.body.replaceChildren(note(`No closed span named ${data.name} starts in this range.`));
    const value = this.value();
    if (value === null) {
      this.chart.show(data);
      this.body.replaceChildren(this.chart.host, this.outliers);
    } else {
      const relation = await ask("relation", { ...asked, name, value });
      if (this.data !== data) return;
      if (relation) this.scatter.show(relation);
      this.body.replaceChildren(this.scatter.host, this.outliers);
    }
    await this.list(value === null ? this.chart.bin() : null);
  }

  /** Redraws after colors or the selected span changed. */
  private mark(): void {
    this.writeTools();
    this.chart.later();
    this.scatter.later();
    this.rows?.refresh();
  }

  private invite(): void {
    this.data = null;
    const button = element("button", { type: "button" }, "Open Statistics");
    button.addEventListener("click", () => callPanel("stats"));
    this.figures.replaceChildren();
    this.body.replaceChildren(
      element(
        "p",
        { class: "note" },
        "Select a name to see how long its spans take: click a span in the timeline or a row in Statistics. ",
        button,
      ),
    );
  }

  private writeTools(): void {
    if (this.tools.contains(document.activeElement)) {
      const focused = (document.activeElement as HTMLElement).dataset["choice"];
      this.tools.replaceChildren(...this.made());
      if (focused) this.tools.querySelector<HTMLElement>(`[data-choice="${focused}"]`)?.focus();
      return;
    }
    this.tools.replaceChildren(...this.made());
  }

  private made(): HTMLElement[] {
    const values = valueNames();
    const made = [rangeSwitch(() => void this.update())];
    if (values.length === 0) return made;
    const choice = element(
      "select",
      { "aria-label": "Compare with", "data-choice": "value" },
      element("option", { value: "" }, "Distribution"),
    );
    for (const value of values)
      choice.append(
        element("option", { value: store.state.names.text(value) }, `Against ${store.state.names.text(value)}`),
      );
    const chosen = this.value();
    choice.value = chosen === null ? "" : store.state.names.text(chosen);
    choice.addEventListener("change", () => {
      keepLink("histogram", choice.value === "" ? {} : { value: choice.value });
      void this.update();
    });
    return [...made, choice];
  }

  private writeFigures(data: Histogram): void {
    const rough = data.exact ? "" : "~";
    const shown: [string, string][] = [
      ["calls", count(data.calls)],
      ["total", duration(data.total_ns)],
      ["min", duration(data.min_ns)],
      ["mean", duration(data.mean_ns)],
      ["p50", rough + duration(data.p50_ns ?? 0)],
      ["p95", rough + duration(data.p95_ns ?? 0)],
      ["p99", rough + duration(data.p99_ns ?? 0)],
      ["max", duration(data.max_ns)],
    ];
    if (data.unclosed > 0) shown.push(["never closed", count(data.unclosed)]);
    const swatch = element("i", { class: "swatch", style: `background: ${paintText(data.name).css}` });
    this.figures.replaceChildren(
      element("strong", { title: data.name }, swatch, data.name),
      ...(data.calls > 0 ? shown : []).map(([what, value]) => element("span", {}, element("small", {}, what), value)),
      ...data.traces.map(({ trace, calls }, at) => {
        const color = element("i", { class: "swatch", style: `background: ${traceColor(at)}` });
        const name = traceLabel(store.state, trace);
        return element("span", { class: "trace" }, color, element("small", {}, name), count(calls));
      }),
    );
  }

  /** Lists the spans of a bar, or the longest of all. */
  private async list(bin: Bin | null): Promise<void> {
    const { data } = this;
    if (!data) return;
    const name = store.state.names.number(data.name);
    if (name === undefined) return;
    const limits = bin ? { least: bin[Bin.from_ns], below: bin[Bin.to_ns] } : {};
    const query = { ...this.asked, ...limits, name, kind: data.kind };
    const answer = await this.listed.ask((signal) => ask("longest", query, signal));
    if (!answer) return;
    [this.places, this.at] = [answer.places, -1];
    const all = answer.all > answer.places.length ? `, the longest ${count(answer.places.length)} are listed` : "";
    this.title.textContent = bin
      ? `${count(answer.all)} take ${duration(bin[0])} to ${duration(bin[1])} (${share(answer.all, data.calls)})${all}`
      : `The longest${answer.all > answer.places.length ? ` ${count(answer.places.length)} of ${count(answer.all)}` : ""}`;
    if (this.rows?.isConnected) return this.rows.setRows(this.places);
    const step = (by: number, title: string): HTMLElement => {
      const button = element("button", { type: "button" }, title);
      button.addEventListener("click", () => this.show(this.at + by));
      return button;
    };
    const tools = [this.title, step(-1, "‹ Previous"), step(1, "Next ›")];
    this.rows = table(columns, this.places, (row) => this.show(this.places.indexOf(row)), {
      isChosen: isSelected,
      isSearched: false,
      name: "traceloom-durations",
      tools,
    });
    this.outliers.replaceChildren(this.rows);
  }

  private show(at: number): void {
    const found = this.places[Math.min(Math.max(at, 0), this.places.length - 1)];
    if (!found) return;
    this.at = this.places.indexOf(found);
    showSpan(found);
  }
}

function isSelected(row: Found): boolean {
  const { place } = store.state.selection;
  return (
    place !== null &&
    place.track === row.track &&
    place.kind === row.kind &&
    place.depth === row.depth &&
    place.index === row.index
  );
}

export const histogram: Panel = {
  id: "histogram",
  title: "Histogram",
  isUseful: ({ server }) => server.tracks.some((track) => track.spans > 0),
  create: () => fresh((host) => new HistogramPanel(host)),
};
