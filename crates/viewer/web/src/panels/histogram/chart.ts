// Durations of a name as bars, on a canvas.

import { count, duration, share } from "../../format";
import { palette, traceColor } from "../../theme";
import { followPointer, onNextFrame, prepare } from "../../widgets/canvas";
import { element } from "../../widgets/dom";
import type { Bin, Histogram } from "../../wire";
import { heights, position, ticks } from "./bins";

const [TOP, BOTTOM, SIDE] = [20, 20, 8];

export class HistogramChart {
  readonly host = element("div", { class: "chart" });
  private readonly canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": "Durations" });
  private readonly said = element("div", { class: "note", role: "status" });
  private data: Histogram | null = null;
  private hovered = -1;
  private chosen = -1;
  readonly later = onNextFrame(this.host, () => this.draw());

  constructor(private readonly choose: (bin: Bin | null) => void) {
    this.host.append(this.canvas, this.said);
    followPointer(
      this.canvas,
      (event) => this.at(event),
      (number) => this.hover(number),
      (number) => this.pick(number),
    );
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.later()).observe(this.host);
  }

  show(data: Histogram): void {
    const isSame = this.data?.name === data.name && this.data.bins.length === data.bins.length;
    this.data = data;
    if (!isSame) this.chosen = -1;
    this.hover(-1);
  }

  /** The bar whose spans are listed. */
  bin(): Bin | null {
    return this.data?.bins[this.chosen] ?? null;
  }

  private at(event: MouseEvent): number {
    const bins = this.data?.bins.length ?? 0;
    const number = Math.floor(((event.offsetX - SIDE) / (this.canvas.clientWidth - 2 * SIDE)) * bins);
    return number >= 0 && number < bins ? number : -1;
  }

  private hover(number: number): void {
    this.hovered = number;
    const bin = this.data?.bins[number < 0 ? this.chosen : number];
    const calls = this.data?.calls ?? 0;
    this.said.textContent = bin
      ? `${duration(bin[0])} to ${duration(bin[1])}: ${count(bin[2])} spans, ${share(bin[2], calls)}`
      : "Click a bar to list its spans.";
    this.later();
  }

  private pick(number: number): void {
    const bin = this.data?.bins[number];
    this.chosen = number === this.chosen || !bin || bin[2] === 0 ? -1 : number;
    this.choose(this.bin());
    this.later();
  }

  private key(event: KeyboardEvent): void {
    const { data } = this;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!data || (by === undefined && event.key !== "Enter" && !(event.key === "Escape" && this.chosen >= 0))) return;
    event.preventDefault();
    event.stopPropagation();
    if (by === undefined) return this.pick(event.key === "Enter" ? this.hovered : -1);
    // Empty bars cannot be selected.
    let next = (this.hovered < 0 ? this.chosen : this.hovered) + by;
    while (data.bins[next]?.[2] === 0) next += by;
    this.hover(Math.min(Math.max(next, 0), data.bins.length - 1));
  }

  private draw(): void {
    const made = prepare(this.canvas);
    if (!made || !this.data) return;
    const { context, width, height } = made;
    const { bins } = this.data;
    const colors = palette();
    const most = Math.max(1, ...bins.map((bin) => bin[2]));
    const [wide, high] = [(width - 2 * SIDE) / bins.length, height - TOP - BOTTOM];
    const bar = (number: number, part: number, color: string): void => {
      if (part === 0) return;
      // A nonempty bar is always visible.
      const tall = Math.max(2, part * high);
      context.fillStyle = number === this.hovered ? colors.text : color;
      context.fillRect(SIDE + number * wide, TOP + high - tall, Math.max(1, wide - 1), tall);
    };
    const faint = (number: number): number => (this.chosen < 0 || this.chosen === number ? 1 : 0.4);
    if (this.data.traces.length === 0) {
      bins.forEach((bin, number) => {
        context.globalAlpha = faint(number);
        bar(number, bin[2] / most, colors.accent);
      });
    } else {
      // Each trace is scaled by its number of calls, so that a longer one does not hide the others.
      const parts = heights(this.data.traces);
      parts.forEach((part, at) => {
        part.forEach((height, number) => {
          context.globalAlpha = faint(number) * 0.55;
          bar(number, height, traceColor(at));
        });
      });
    }
    context.globalAlpha = 1;
    this.drawAxis(context, width, TOP + high);
    this.drawMarks(context, width, TOP + high);
  }

  private drawAxis(context: CanvasRenderingContext2D, width: number, bottom: number): void {
    if (!this.data) return;
    const { bins, logarithmic } = this.data;
    const colors = palette();
    context.fillStyle = colors.line;
    context.fillRect(SIDE, bottom, width - 2 * SIDE, 1);
    context.textBaseline = "top";
    context.textAlign = "center";
    context.fillStyle = colors.dim;
    let free = -Infinity;
    for (const ns of ticks(bins, logarithmic)) {
      const x = SIDE + (position(bins, logarithmic, ns) / bins.length) * (width - 2 * SIDE);
      const text = duration(ns);
      const half = context.measureText(text).width / 2;
      if (x - half < free + 10 || x + half > width) continue;
      free = x + half;
      context.fillRect(x, bottom, 1, 4);
      context.fillText(text, Math.max(x, half), bottom + 6);
    }
  }

  /** Median and high percentiles. */
  private drawMarks(context: CanvasRenderingContext2D, width: number, bottom: number): void {
    if (!this.data) return;
    const { bins, logarithmic, p50_ns, p95_ns, p99_ns, max_ns } = this.data;
    const colors = palette();
    const all: [string, number | null, string][] = [
      ["p50", p50_ns, colors.text],
      ["p95", p95_ns, colors.warn],
      ["p99", p99_ns, colors.warn],
      ["max", max_ns, colors.bad],
    ];
    const marks: { x: number; text: string }[] = [];
    for (const [text, ns, color] of all) {
      if (ns === null) continue;
      const x = Math.min(SIDE + (position(bins, logarithmic, ns) / bins.length) * (width - 2 * SIDE), width - SIDE);
      context.fillStyle = color;
      context.fillRect(x, 4, 1, bottom - 4);
      marks.push({ x, text });
    }
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = colors.dim;
    for (const { x, text } of texts(context, marks, width)) {
      context.clearRect(x - 2, 3, context.measureText(text).width + 4, 13);
      context.fillText(text, x, 9);
    }
  }
}

/** Places texts next to their lines, from the right; a text that does not fit is joined with the next one. */
function texts(
  context: CanvasRenderingContext2D,
  marks: { x: number; text: string }[],
  width: number,
): { x: number; text: string }[] {
  const placed: { x: number; text: string; end: number }[] = [];
  for (const { x, text } of [...marks].reverse()) {
    const next = placed[0];
    const long = context.measureText(text).width;
    if (x + 4 + long <= (next ? next.x - 6 : width)) placed.unshift({ x: x + 4, text, end: x + 4 + long });
    else if (!next) placed.unshift({ x: x - 4 - long, text, end: x - 4 });
    else {
      next.text = `${text} · ${next.text}`;
      next.x = next.end - context.measureText(next.text).width;
    }
  }
  return placed;
}
