// Frame times as bars over a budget line, on a canvas.

import { duration, moment } from "../../format";
import { palette } from "../../theme";
import { followPointer, onNextFrame, prepare } from "../../widgets/canvas";
import { element } from "../../widgets/dom";
import { FrameBar } from "../../wire";

const [TOP, BOTTOM] = [12, 2];

export class FrameStrip {
  readonly host = element("div", { class: "framestrip" });
  private readonly canvas = element("canvas", {
    tabindex: "0",
    role: "img",
    "aria-label": "Frame times. Left and right move, Enter shows a frame.",
  });
  private readonly said = element("div", { class: "note", role: "status" });
  private bars: FrameBar[] = [];
  private budget = 0;
  private hovered = -1;
  readonly later = onNextFrame(this.host, () => this.draw());

  constructor(private readonly choose: (bar: FrameBar) => void) {
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

  show(bars: FrameBar[], budget: number): void {
    [this.bars, this.budget] = [bars, budget];
    this.hover(-1);
  }

  /** The bar at a point: the longest of those that share the pixel. */
  private at(event: MouseEvent): number {
    const { clientWidth: width } = this.canvas;
    const [first, last] = [event.offsetX, event.offsetX + 1].map((x) => Math.floor((x / width) * this.bars.length));
    let best = Math.min(first ?? 0, this.bars.length - 1);
    for (let at = best; at < (last ?? 0); at++) if (this.length(at) > this.length(best)) best = at;
    return best;
  }

  private length(at: number): number {
    return this.bars[at]?.[FrameBar.dur_ns] ?? 0;
  }

  private hover(at: number): void {
    this.hovered = at;
    const bar = this.bars[at];
    this.said.textContent = bar
      ? `frame ${bar[FrameBar.number] + 1}: ${duration(bar[FrameBar.dur_ns])} at ${moment(bar[FrameBar.ts_ns])}`
      : `The line is the budget of ${duration(this.budget)}. Click a bar to show its frame.`;
    this.later();
  }

  private pick(at: number): void {
    const bar = this.bars[at];
    if (bar) this.choose(bar);
  }

  private key(event: KeyboardEvent): void {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by !== undefined) this.hover(Math.min(Math.max(this.hovered + by, 0), this.bars.length - 1));
    else if (event.key === "Enter") this.pick(this.hovered);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private draw(): void {
    const made = prepare(this.canvas);
    if (!made || this.bars.length === 0) return;
    const { context, width, height } = made;
    const colors = palette();
    const most = Math.max(this.budget * 1.15, ...this.bars.map((bar) => bar[FrameBar.dur_ns]));
    const high = height - TOP - BOTTOM;
    const wide = width / this.bars.length;
    this.bars.forEach((bar, at) => {
      const tall = Math.max(1, (bar[FrameBar.dur_ns] / most) * high);
      const isOver = bar[FrameBar.dur_ns] > this.budget;
      context.fillStyle = at === this.hovered ? colors.text : isOver ? colors.bad : colors.accent;
      context.fillRect(at * wide, TOP + high - tall, Math.max(0.7, wide - (wide > 3 ? 1 : 0)), tall);
    });
    const line = TOP + high - (this.budget / most) * high;
    context.fillStyle = colors.warn;
    context.fillRect(0, line, width, 1.5);
    context.fillStyle = colors.dim;
    context.textBaseline = "bottom";
    context.fillText(duration(this.budget), 4, Math.max(line - 1, 11));
  }
}
