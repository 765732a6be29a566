// The times of names from day to day and from build to build, and their changes.

import { ask } from "../../api";
import { count, duration } from "../../format";
import { callPanel, keepLink, linkOf } from "../../store";
import { BusyMark, Latest } from "../../widgets/busy";
import { element, failure, note, searchField, switcher } from "../../widgets/dom";
import { Paged } from "../../widgets/paged";
import { table, type TableElement } from "../../widgets/table";
import { StoredName, type NameTrend, type Trend, type TrendMetric, type TrendPoint } from "../../wire";
import { lasting, type Panel } from "../panel";
import { TrendChart } from "./chart";
import { changeAt, percent } from "./plot";

const METRICS: readonly TrendMetric[] = ["p50", "p95", "p99", "mean"];

class TrendPanel {
  readonly host = element("div", { class: "sheet trend" });
  private readonly text = searchField("Name", "Name  /");
  private readonly counted = element("p", { class: "note", role: "status" });
  private readonly heading = element("h2", {}, "Trend");
  private readonly metrics = element("span");
  private readonly summary = element("span", { class: "note" });
  private readonly figures = element("div", { class: "scroll" });
  private readonly problem = element("div", { role: "alert" });
  private readonly busy = new BusyMark();
  private readonly latest = new Latest();
  private readonly chart = new TrendChart({ choose: (point) => this.chart.mark(point) });
  private readonly names = new Paged<StoredName>({
    label: "Names",
    height: 24,
    ask: (skip, take) => {
      const { metric, text } = this;
      return this.busy.during(
        ask("store/names", { metric, text: text.value, skip, take }).then((answer) => this.take(answer)),
      );
    },
    row: (row) => this.row(row),
    counted: (total) => this.count(total),
    failed: (error) => this.problem.replaceChildren(failure(error)),
    choose: (row) => this.choose(row[StoredName.name]),
    open: (row) => this.choose(row[StoredName.name]),
  });
  private metric: TrendMetric = "p50";
  private name: string | null = null;
  private changed = 0;
  /** The first name, which is shown if none was chosen. */
  private first: string | null = null;
  private asked = "";
  private rows: TableElement<TrendPoint> | null = null;
  private waiting = 0;

  constructor() {
    const link = linkOf("trend") ?? {};
    this.text.value = typeof link.text === "string" ? link.text : "";
    const list = element(
      "div",
      { class: "main names" },
      element("div", { class: "tools" }, this.text),
      this.counted,
      this.names.lines.host,
    );
    const tools = element("div", { class: "tools" }, this.heading, this.metrics, this.summary);
    const main = element("div", { class: "main" }, this.busy.host, tools, this.problem, this.chart.host, this.figures);
    this.host.append(list, main);
    this.text.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = window.setTimeout(() => {
        this.keep();
        void this.names.restart();
      }, 120);
    });
  }

  async update(): Promise<void> {
    const link = linkOf("trend") ?? {};
    const metric = METRICS.find((one) => one === link.metric) ?? "p50";
    const isOther = this.asked === "" || metric !== this.metric;
    this.metric = metric;
    this.name = typeof link.name === "string" ? link.name : this.name;
    this.names.lines.resume();
    if (isOther) {
      this.metrics.replaceChildren(
        switcher(
          "Figure of each trace",
          METRICS.map((id) => ({
            id,
            title: id === "mean" ? "Mean" : id,
            hint: `Find changes in the ${WORDS[id]} of each trace`,
          })),
          metric,
          (id) => {
            keepLink("trend", { name: this.name, metric: id, text: this.text.value });
            void this.update();
          },
        ),
      );
      await this.names.restart();
    }
    await this.load();
  }

  private keep(): void {
    keepLink("trend", { name: this.name, metric: this.metric, text: this.text.value });
  }

  private choose(name: string): void {
    this.name = name;
    this.keep();
    void this.load();
  }

  private take(answer: { total: number; changed: number; rows: StoredName[] }): typeof answer {
    this.changed = answer.changed;
    this.first ??= answer.rows[0]?.[StoredName.name] ?? null;
    return answer;
  }

  private count(total: number): void {
    const changed = this.changed === 0 ? "no lasting change" : `${count(this.changed)} changed`;
    this.counted.textContent = `${count(total)} name${total === 1 ? "" : "s"} · ${changed}`;
    this.host.dataset["names"] = String(total);
  }

  private row(row: StoredName): HTMLElement {
    const name = row[StoredName.name];
    const change = row[StoredName.change];
    const kind = change === null ? "number" : change > 0 ? "number worse" : "number better";
    const told = `${count(row[StoredName.calls])} calls, ${duration(row[StoredName.total_ns])} in all traces`;
    const isShown = name === (this.name ?? this.first);
    return element(
      "div",
      { class: isShown ? "nameline shown" : "nameline", title: `${name}\n${told}` },
      element("span", {}, name),
      element("span", { class: kind }, change === null ? duration(row[StoredName.total_ns]) : percent(change)),
    );
  }

  private async load(): Promise<void> {
    const name = this.name ?? this.first;
    const { metric } = this;
    const key = JSON.stringify([name, metric]);
    if (key === this.asked) return;
    this.asked = key;
    this.problem.replaceChildren();
    if (name === null) {
      this.figures.replaceChildren(note("The traces of this store have no spans."));
      return;
    }
    try {
      const trend = await this.busy.during(this.latest.ask((signal) => ask("store/trend", { name, metric }, signal)));
      if (trend) this.fill(trend);
    } catch (error) {
      this.problem.replaceChildren(failure(error));
    }
  }

  private fill(trend: Trend): void {
    const [name] = trend.names;
    if (!name) return;
    this.heading.textContent = name.name;
    const changes = name.changes.length;
    this.summary.textContent =
      changes === 0 ? "no lasting change" : `${count(changes)} lasting change${changes === 1 ? "" : "s"}`;
    this.chart.show(trend);
    this.names.lines.refresh();
    this.rows = pointTable(name, (point) => this.chart.mark(point));
    this.figures.replaceChildren(this.rows);
    // Scripts can wait for this.
    this.host.dataset["shown"] = name.name;
  }
}

const WORDS: Record<TrendMetric, string> = {
  p50: "median",
  p95: "95th percentile",
  p99: "99th percentile",
  mean: "mean time per call",
};

function pointTable(name: NameTrend, choose: (point: TrendPoint) => void): TableElement<TrendPoint> {
  const optional = (ns: number | null): string => (ns === null ? "" : duration(ns));
  const change = (point: TrendPoint): number => changeAt(name, point)?.change ?? NaN;
  return table<TrendPoint>(
    [
      { title: "Day", text: (point) => point.day },
      { title: "Build", text: (point) => point.build },
      { title: "Traces", text: (point) => count(point.traces), value: (point) => point.traces },
      { title: "Calls", text: (point) => count(point.calls), value: (point) => point.calls },
      { title: "p50", text: (point) => optional(point.p50_ns), value: (point) => point.p50_ns ?? NaN, csv: "p50_ns" },
      { title: "p95", text: (point) => optional(point.p95_ns), value: (point) => point.p95_ns ?? NaN, csv: "p95_ns" },
      { title: "p99", text: (point) => optional(point.p99_ns), value: (point) => point.p99_ns ?? NaN, csv: "p99_ns" },
      {
        title: "Per trace",
        text: (point) => duration(point.value_ns),
        value: (point) => point.value_ns,
        csv: "value_ns",
        hint: "Mean of the figures of the traces",
      },
      {
        title: "Noise",
        text: (point) => (point.noise_ns === null ? "?" : `± ${duration(point.noise_ns)}`),
        value: (point) => point.noise_ns ?? NaN,
        csv: "noise_ns",
        hint: "95 % confidence interval of the mean; unknown with a single trace",
      },
      {
        title: "Change",
        text: (point) => (Number.isNaN(change(point)) ? "" : percent(change(point))),
        value: change,
        hint: "A lasting change that starts here",
      },
    ],
    name.points,
    choose,
    {
      name: "trend",
      // Lists the traces of a point.
      open: ({ day, build }) => callPanel("stored", { tags: { day, build } }),
    },
  );
}

export const trend: Panel = {
  id: "trend",
  title: "Trend",
  isUseful: ({ stored }) => stored?.about?.has_trends ?? false,
  create: () => lasting(() => new TrendPanel()),
};
