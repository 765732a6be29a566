// Plots values against the durations of their enclosing spans.

import { duration, figure } from "../../format";
import { palette } from "../../theme";
import { onNextFrame, prepare } from "../../widgets/canvas";
import { element } from "../../widgets/dom";
import type { Relation } from "../../wire";

const [LEFT, RIGHT, TOP, BOTTOM] = [64, 10, 8, 22];

export class Scatter {
  readonly host = element("div", { class: "chart" });
  private readonly canvas = element("canvas", { role: "img", "aria-label": "Durations against values" });
  private readonly said = element("div", { class: "note", role: "status" });
  private data: Relation | null = null;
  private hovered = -1;
  readonly later = onNextFrame(this.host, () => this.draw());

  constructor(private readonly choose: (dur: number, ts: number) => void) {
    this.host.append(this.canvas, this.said);
    this.canvas.addEventListener("pointermove", (event) => this.hover(this.at(event)));
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
    this.canvas.addEventListener("click", (event) => {
      const point = this.data?.points[this.at(event)];
      if (point) this.choose(point[1], point[2]);
    });
    new ResizeObserver(() => this.later()).observe(this.host);
  }

  show(data: Relation): void {
    this.data = data;
    this.hover(-1);
  }

  private range(of: 0 | 1): [number, number] {
    const all = (this.data?.points ?? []).map((point) => point[of]);
    const [least, most] = [Math.min(...all), Math.max(...all)];
    return all.length === 0 ? [0, 1] : least === most ? [least - 1, most + 1] : [least, most];
  }

  private place(value: number, dur: number): { x: number; y: number } {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const [[left, right], [low, high]] = [this.range(0), this.range(1)];
    const bottom = Math.min(low, 0);
    return {
      x: LEFT + ((value - left) / (right - left)) * (width - LEFT - RIGHT),
      y: height - BOTTOM - ((dur - bottom) / (high - bottom)) * (height - TOP - BOTTOM),
    };
  }

  private at(event: MouseEvent): number {
    let [best, nearest] = [-1, 12 ** 2];
    this.data?.points.forEach(([value, dur], number) => {
      const { x, y } = this.place(value, dur);
      const far = (x - event.offsetX) ** 2 + (y - event.offsetY) ** 2;
      if (far < nearest) [best, nearest] = [number, far];
    });
    return best;
  }

  private hover(number: number): void {
    this.hovered = number;
    const point = this.data?.points[number];
    this.said.textContent = point ? `${figure(point[0])} took ${duration(point[1])}; click to see it` : this.summary();
    this.later();
  }

  private summary(): string {
    const { data } = this;
    if (!data) return "";
    if (!data.fit) return "Too few different values were recorded inside these spans to relate them to durations.";
    const { correlation, slope_ns, complexity, r2 } = data.fit;
    const law =
      r2 === null
        ? "no clear relation"
        : `grows like ${complexity} (explains ${Math.round(100 * r2)} % of the variation)`;
    return `${data.pairs} values: correlation ${correlation.toFixed(3)}, ${duration(slope_ns)} per unit, ${law}`;
  }

  private draw(): void {
    const made = prepare(this.canvas);
    if (!made || !this.data) return;
    const { context, width, height } = made;
    const colors = palette();
    this.drawAxes(context, width, height);
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM);
    context.clip();
    const { fit, points } = this.data;
    if (fit) {
      const [from, to] = this.range(0).map((value) => this.place(value, fit.intercept_ns + fit.slope_ns * value)) as [
        { x: number; y: number },
        { x: number; y: number },
      ];
      context.strokeStyle = colors.warn;
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
      context.stroke();
    }
    context.restore();
    context.fillStyle = colors.accent;
    context.globalAlpha = points.length > 300 ? 0.45 : 0.8;
    points.forEach(([value, dur], number) => {
      const { x, y } = this.place(value, dur);
      if (number === this.hovered) return;
      context.fillRect(x - 2, y - 2, 4, 4);
    });
    context.globalAlpha = 1;
    const point = points[this.hovered];
    if (!point) return;
    const { x, y } = this.place(point[0], point[1]);
    context.fillStyle = colors.text;
    context.fillRect(x - 4, y - 4, 8, 8);
  }

  private drawAxes(context: CanvasRenderingContext2D, width: number, height: number): void {
    const colors = palette();
    context.fillStyle = colors.line;
    context.fillRect(LEFT, height - BOTTOM, width - LEFT - RIGHT, 1);
    context.fillRect(LEFT, TOP, 1, height - TOP - BOTTOM);
    context.fillStyle = colors.dim;
    const [[left, right], [low, high]] = [this.range(0), this.range(1)];
    context.textBaseline = "top";
    for (const part of [0, 0.5, 1]) {
      context.textAlign = part === 0 ? "left" : part === 1 ? "right" : "center";
      context.fillText(
        figure(Number((left + part * (right - left)).toPrecision(4))),
        LEFT + part * (width - LEFT - RIGHT),
        height - BOTTOM + 6,
      );
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const part of [0, 0.5, 1]) {
      const dur = Math.min(low, 0) + part * (high - Math.min(low, 0));
      context.fillText(duration(dur), LEFT - 6, Math.max(TOP + 6, this.place(left, dur).y));
    }
  }
}
