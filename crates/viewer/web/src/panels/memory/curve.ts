// Memory in use over time; a click requests the live memory at that time.

import { bytes, moment } from "../../format";
import { store } from "../../store";
import { palette } from "../../theme";
import { element } from "../../widgets/dom";
import { when } from "../../widgets/jump";
import type { MemoryAnswer } from "../../wire";

const MARGIN = { top: 14, bottom: 16 };

export class Curve {
  readonly host = element("div", { class: "curve" });
  private readonly canvas = element("canvas", {
    tabindex: "0",
    role: "slider",
    "aria-valuenow": "0",
    "aria-label": "Memory in use; arrows move the time",
  });
  private readonly told = element("output", { class: "note" });
  private report: MemoryAnswer | null = null;
  private hover: number | null = null;

  constructor(private readonly pick: (ts: number) => void) {
    this.host.append(element("div", { class: "plot" }, this.canvas), this.told);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.canvas.addEventListener("pointermove", (event) => this.point(event.offsetX));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("click", (event) => this.report && this.pick(this.time(event.offsetX)));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  show(report: MemoryAnswer): void {
    this.report = report;
    this.draw();
  }

  private get reach(): [number, number] {
    const { first_ns = 0, last_ns = 1 } = this.report ?? {};
    return [first_ns, Math.max(last_ns, first_ns + 1)];
  }

  private time(x: number): number {
    const [from, to] = this.reach;
    return from + Math.min(Math.max(x / this.canvas.clientWidth, 0), 1) * (to - from);
  }

  private x(ts: number): number {
    const [from, to] = this.reach;
    return ((ts - from) / (to - from)) * this.canvas.clientWidth;
  }

  private point(x: number | null): void {
    this.hover = x;
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (by === undefined || !this.report) return;
    event.preventDefault();
    event.stopPropagation();
    const [from, to] = this.reach;
    const at = this.report.at?.ts_ns ?? this.report.peak.ts_ns;
    this.pick(Math.min(Math.max(at + (by * (to - from)) / 200, from), to));
  }

  /** The point of the curve at a time. */
  private at(ts: number): MemoryAnswer["curve"][number] | undefined {
    const curve = this.report?.curve ?? [];
    let [low, high] = [0, curve.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((curve[middle]?.[0] ?? 0) <= ts) low = middle + 1;
      else high = middle;
    }
    return curve[Math.max(0, low - 1)];
  }

  draw(): void {
    const { canvas, report } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    const context = canvas.getContext("2d");
    if (!context || !report || width === 0) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colors = palette();
    const highest = Math.max(1, ...report.curve.map(([, , most]) => most));
    const y = (value: number): number =>
      height - MARGIN.bottom - (value / highest) * (height - MARGIN.top - MARGIN.bottom);
    context.fillStyle = `color-mix(in srgb, ${colors.accent} 10%, transparent)`;
    context.fillRect(
      this.x(store.state.view.from),
      0,
      this.x(store.state.view.to) - this.x(store.state.view.from),
      height - MARGIN.bottom,
    );
    this.area(context, y, 2, `color-mix(in srgb, ${colors.accent} 22%, transparent)`);
    this.area(context, y, 1, `color-mix(in srgb, ${colors.accent} 45%, transparent)`);
    context.font = "11px system-ui, sans-serif";
    const line = (ts: number, color: string, text: string, isDashed = false): void => {
      const at = Math.min(Math.max(this.x(ts), 0.5), width - 0.5);
      context.strokeStyle = context.fillStyle = color;
      context.setLineDash(isDashed ? [3, 3] : []);
      context.beginPath();
      context.moveTo(at, MARGIN.top);
      context.lineTo(at, height - MARGIN.bottom);
      context.stroke();
      const size = context.measureText(text).width;
      context.fillText(text, Math.min(Math.max(at - size / 2, 2), width - size - 2), MARGIN.top - 3);
    };
    if (!report.is_growth_only) line(report.peak.ts_ns, colors.bad, `peak ${bytes(report.peak.bytes)}`, true);
    if (report.at) line(report.at.ts_ns, colors.accent, bytes(report.at.bytes));
    context.fillStyle = colors.dim;
    const [from, to] = this.reach;
    context.fillText(moment(from, (to - from) / 100), 2, height - 4);
    const last = moment(to, (to - from) / 100);
    context.fillText(last, width - context.measureText(last).width - 2, height - 4);
    this.tell(context, colors.dim, height);
  }

  /** Draws steps, because memory does not change between points. */
  private area(context: CanvasRenderingContext2D, y: (value: number) => number, column: 1 | 2, color: string): void {
    const curve = this.report?.curve ?? [];
    const [, to] = this.reach;
    context.fillStyle = color;
    context.beginPath();
    context.moveTo(0, y(0));
    curve.forEach((point, number) => {
      context.lineTo(this.x(point[0]), y(point[column]));
      context.lineTo(this.x(curve[number + 1]?.[0] ?? to), y(point[column]));
    });
    context.lineTo(this.x(to), y(0));
    context.fill();
  }

  private tell(context: CanvasRenderingContext2D, color: string, height: number): void {
    if (this.hover === null) {
      this.told.textContent = this.report?.at
        ? `${bytes(this.report.at.bytes)} at ${when(this.report.at.ts_ns)}`
        : "Click a time to see what was in use";
    } else {
      const ts = this.time(this.hover);
      context.strokeStyle = color;
      context.setLineDash([]);
      context.beginPath();
      context.moveTo(this.hover, MARGIN.top);
      context.lineTo(this.hover, height - MARGIN.bottom);
      context.stroke();
      this.told.textContent = `${bytes(this.at(ts)?.[1] ?? 0)} at ${when(ts)}`;
    }
    this.canvas.setAttribute("aria-valuetext", this.told.textContent);
    this.canvas.setAttribute(
      "aria-valuenow",
      String(Math.round(this.report?.at?.ts_ns ?? this.report?.peak.ts_ns ?? 0)),
    );
  }
}
