// The history of a name as a chart.

import { count, duration } from "../../format";
import { drawn } from "../../widgets/svg";
import { element, facts } from "../../widgets/dom";
import type { NameTrend, Trend, TrendPoint } from "../../wire";
import { changeAt, EDGE, nearest, percent, plot, SERIES, valueOf, type Plot, type Series } from "./plot";

const HEIGHT = 260;

export interface ChartEvents {
  /** A point was clicked. */
  choose(point: TrendPoint): void;
}

export class TrendChart {
  readonly host = element("figure", { class: "trendchart" });
  private readonly picture = drawn("svg", { role: "img", "aria-label": "Trend" });
  private readonly card = element("div", { class: "card", hidden: "" });
  private readonly legend = element("div", { class: "tools", role: "group", "aria-label": "Lines" });
  private trend: Trend | null = null;
  private plotted: Plot | null = null;
  private hidden = new Set<Series>();
  private chosen: TrendPoint | null = null;

  constructor(private readonly events: ChartEvents) {
    this.host.append(this.legend, this.picture, this.card);
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("pointerleave", () => (this.card.hidden = true));
    this.picture.addEventListener("click", (event) => {
      const point = this.under(event);
      if (point) this.events.choose(point);
    });
    new ResizeObserver(() => this.draw()).observe(this.host);
  }

  show(trend: Trend): void {
    this.trend = trend;
    this.chosen = null;
    this.draw();
  }

  /** Marks a point. */
  mark(point: TrendPoint | null): void {
    this.chosen = point;
    this.draw();
  }

  private get name(): NameTrend | undefined {
    return this.trend?.names[0];
  }

  /** The series with data for the name. */
  private there(name: NameTrend): Series[] {
    return SERIES.filter((series) => name.points.some((point) => valueOf(point, series) !== null));
  }

  private draw(): void {
    const { trend, name } = this;
    if (!trend || !name || this.host.clientWidth === 0) return;
    const width = this.host.clientWidth;
    const there = this.there(name);
    const shown = there.filter((series) => !this.hidden.has(series));
    this.plotted = plot(name, trend.points, shown, [width, HEIGHT]);
    this.writeLegend(there);
    this.picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.picture.setAttribute("height", String(HEIGHT));
    this.picture.setAttribute("aria-label", spoken(name));
    this.picture.replaceChildren(
      ...this.axes(this.plotted, width),
      ...this.marks(this.plotted),
      ...this.lines(this.plotted),
    );
  }

  private writeLegend(there: readonly Series[]): void {
    const focused = this.legend.contains(document.activeElement)
      ? document.activeElement?.getAttribute("data-series")
      : null;
    const button = (series: Series): HTMLElement => {
      const isOn = !this.hidden.has(series);
      const made = element(
        "button",
        {
          type: "button",
          class: `series ${series}`,
          "data-series": series,
          "aria-pressed": String(isOn),
          title: ABOUT[series],
        },
        element("i", { "aria-hidden": "true" }),
        TITLES[series],
      );
      made.addEventListener("click", () => {
        if (!this.hidden.delete(series)) this.hidden.add(series);
        this.draw();
      });
      return made;
    };
    this.legend.replaceChildren(...there.map(button));
    this.legend.querySelector<HTMLElement>(`[data-series="${focused ?? ""}"]`)?.focus();
  }

  private axes({ up, along }: Plot, width: number): SVGElement[] {
    const made = up.flatMap(({ y, text }) => [
      drawn("line", {
        class: "grid",
        x1: String(EDGE.left),
        x2: String(width - EDGE.right),
        y1: y.toFixed(1),
        y2: y.toFixed(1),
      }),
      label(text, EDGE.left - 8, y + 4, "end"),
    ]);
    const below = along.flatMap(({ x, text }) => {
      const [day = "", build = ""] = text.split("\n");
      const anchor = x + 40 > width ? "end" : x - 30 < EDGE.left ? "start" : "middle";
      return [label(day, x, HEIGHT - 18, anchor), label(build, x, HEIGHT - 5, anchor)];
    });
    return [...made, ...below];
  }

  private marks({ changes, xs }: Plot): SVGElement[] {
    const lines = changes.flatMap(({ x, text, isWorse }) => {
      const kind = isWorse ? "change worse" : "change better";
      return [
        drawn("line", {
          class: kind,
          x1: x.toFixed(1),
          x2: x.toFixed(1),
          y1: String(EDGE.top - 6),
          y2: String(HEIGHT - EDGE.bottom),
        }),
        label(
          text,
          x,
          EDGE.top - 9,
          x > this.host.clientWidth - 60 ? "end" : x < EDGE.left + 20 ? "start" : "middle",
          kind,
        ),
      ];
    });
    const at = this.chosen ? (this.name?.points.indexOf(this.chosen) ?? -1) : -1;
    const x = xs[at];
    if (x === undefined) return lines;
    const chosen = drawn("line", {
      class: "chosen",
      x1: x.toFixed(1),
      x2: x.toFixed(1),
      y1: String(EDGE.top),
      y2: String(HEIGHT - EDGE.bottom),
    });
    return [...lines, chosen];
  }

  private lines({ lines, band, dots }: Plot): SVGElement[] {
    const made: SVGElement[] = band === "" ? [] : [drawn("polygon", { class: "band", points: band })];
    for (const [series, points] of [...lines].reverse())
      made.push(drawn("polyline", { class: `series ${series}`, points }));
    // With many points, the lines are enough.
    if (dots.length <= 600) {
      made.push(
        ...dots.map(({ x, y, series }) =>
          drawn("circle", { class: `series ${series}`, cx: x.toFixed(1), cy: y.toFixed(1), r: "2.5" }),
        ),
      );
    }
    return made;
  }

  private under(event: MouseEvent): TrendPoint | undefined {
    if (!this.plotted) return undefined;
    const x = event.clientX - this.picture.getBoundingClientRect().left;
    return this.name?.points[nearest(this.plotted.xs, x)];
  }

  private point(event: PointerEvent): void {
    const point = this.under(event);
    this.card.hidden = !point;
    if (!point || !this.name) return;
    this.card.replaceChildren(told(this.name, point));
    const x = Math.min(event.clientX + 14, innerWidth - 260);
    this.card.style.transform = `translate(${x}px, ${event.clientY + 14}px)`;
  }
}

const TITLES: Record<Series, string> = { p50: "p50", p95: "p95", p99: "p99", mean: "Mean of traces ± noise" };
const ABOUT: Record<Series, string> = {
  p50: "Median of all calls",
  p95: "95th percentile of all calls",
  p99: "99th percentile of all calls",
  mean: "Mean of the chosen figure of each trace; the band is its 95 % confidence interval",
};

function told(name: NameTrend, point: TrendPoint): HTMLElement {
  const figure = (ns: number | null): string => (ns === null ? "" : duration(ns));
  const change = changeAt(name, point);
  const noise = point.noise_ns === null ? "" : ` ± ${duration(point.noise_ns)}`;
  return facts([
    ["Day", point.day],
    ["Build", point.build],
    ["Traces", count(point.traces)],
    ["Calls", count(point.calls)],
    ["p50", figure(point.p50_ns)],
    ["p95", figure(point.p95_ns)],
    ["p99", figure(point.p99_ns)],
    ["Mean of traces", `${duration(point.value_ns)}${noise}`],
    ["Change", change ? `${percent(change.change)} ± ${(100 * change.noise).toFixed(1)} %` : ""],
  ]);
}

/** A description for screen readers; the table below has the numbers. */
function spoken({ name, points, changes }: NameTrend): string {
  const told = changes.map(({ at, change }) => `${percent(change)} on ${at.day} in build ${at.build}`);
  return `${name} at ${count(points.length)} points of day and build: ${told.join(", ") || "no lasting change"}`;
}

function label(text: string, x: number, y: number, anchor: string, kind = ""): SVGElement {
  const made = drawn("text", {
    x: x.toFixed(1),
    y: y.toFixed(1),
    "text-anchor": anchor,
    ...(kind ? { class: kind } : {}),
  });
  made.textContent = text.length > 14 ? `${text.slice(0, 13)}…` : text;
  return made;
}
