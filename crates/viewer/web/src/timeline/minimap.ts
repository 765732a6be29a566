// The minimap: the whole axis with the view in it.

import { ask } from "../api";
import { look, lookAtAll, store, type Range } from "../store";
import { extent } from "../store/state";
import { palette } from "../theme";
import { byId } from "../widgets/dom";
import type { Minimap as Overview } from "../wire";
import { smoothed } from "./samples";

/** Distance from an edge of the view within which a drag moves that edge. */
const EDGE = 6;

export class Minimap {
  private readonly canvas = byId("minimap") as HTMLCanvasElement;
  private overview: Overview = { busy: [], points: [], errors: [], memory: [] };
  private asked = 0;
  private frame = 0;
  /** The cached part that does not change when the view moves. */
  private readonly still = document.createElement("canvas");
  private isStale = true;

  constructor() {
    store.subscribe(
      ({ server }) => server.revision,
      () => void this.load(),
    );
    store.subscribe(
      ({ view, selection }) => [view, selection.range],
      () => this.invalidate(),
    );
    store.subscribe(
      ({ isDark }) => isDark,
      () => {
        this.isStale = true;
        this.invalidate();
      },
    );
    this.canvas.addEventListener("pointerdown", (event) => this.drag(event));
    this.canvas.addEventListener("pointermove", (event) => event.buttons === 0 && this.point(event));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("dblclick", () => lookAtAll());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => void this.load()).observe(this.canvas);
  }

  private get width(): number {
    return Math.max(1, this.canvas.clientWidth);
  }

  private async load(): Promise<void> {
    const number = ++this.asked;
    this.invalidate();
    if (store.state.server.revision < 0) return;
    const overview = await ask("minimap", { px: Math.round(this.width) }).catch(() => null);
    if (number !== this.asked || !overview) return;
    this.overview = overview;
    this.isStale = true;
    this.invalidate();
  }

  private x(ns: number): number {
    const all = extent(store.state);
    return ((ns - all.from) / (all.to - all.from)) * this.width;
  }

  private ns(x: number): number {
    const all = extent(store.state);
    return all.from + (x / this.width) * (all.to - all.from);
  }

  /** The effect of a drag from a point: moves an edge or the whole view. */
  private grip(x: number): "from" | "to" | "move" | "jump" {
    const [left, right] = [this.x(store.state.view.from), this.x(store.state.view.to)];
    if (right - left > 3 * EDGE || x < left || x > right) {
      if (Math.abs(x - left) <= EDGE) return "from";
      if (Math.abs(x - right) <= EDGE) return "to";
    }
    return x >= left && x <= right ? "move" : "jump";
  }

  private point(event: PointerEvent): void {
    const cursors = { from: "ew-resize", to: "ew-resize", move: "grab", jump: "pointer" };
    this.canvas.style.cursor = cursors[this.grip(event.offsetX)];
  }

  private drag(down: PointerEvent): void {
    if (down.button !== 0) return;
    const grip = this.grip(down.offsetX);
    const start: Range = store.state.view;
    const at = this.ns(down.offsetX);
    if (grip === "jump") {
      const half = (start.to - start.from) / 2;
      look(at - half, at + half);
    }
    const base = grip === "jump" ? store.state.view : start;
    this.canvas.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent): void => {
      const to = this.ns(event.offsetX);
      if (grip === "from") look(Math.min(to, base.to - 10), base.to);
      else if (grip === "to") look(base.from, Math.max(to, base.from + 10));
      else look(base.from + to - at, base.to + to - at);
    };
    const up = (): void => this.canvas.removeEventListener("pointermove", move);
    this.canvas.addEventListener("pointermove", move);
    this.canvas.addEventListener("pointerup", up, { once: true });
    this.canvas.addEventListener("pointercancel", up, { once: true });
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const at = this.ns(event.offsetX);
    const factor = Math.exp(Math.min(Math.max(event.deltaY, -200), 200) / 300);
    const { from, to } = store.state.view;
    look(at - (at - from) * factor, at + (to - at) * factor);
  }

  private key(event: KeyboardEvent): void {
    const by = { ArrowLeft: -0.25, ArrowRight: 0.25 }[event.key];
    if (by === undefined) return;
    event.stopPropagation();
    const width = store.state.view.to - store.state.view.from;
    look(store.state.view.from + by * width, store.state.view.to + by * width);
  }

  private invalidate(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = devicePixelRatio || 1;
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    if (!context || width === 0) return;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      for (const canvas of [this.canvas, this.still]) [canvas.width, canvas.height] = [wide, high];
      this.isStale = true;
    }
    if (this.isStale) this.drawStill(ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.still, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.view(context, width, height);
  }

  private drawStill(ratio: number): void {
    const context = this.still.getContext("2d", { willReadFrequently: true });
    if (!context) return;
    this.isStale = false;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colors = palette();
    context.fillStyle = colors.row;
    context.fillRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    const { busy, points, errors, memory } = this.overview;
    const hasSpans = busy.some((value) => value > 0);
    // Log lines come in bursts that may interfere with the pixels.
    const dots = store.state.server.logs > 0 ? smoothed(points) : points;
    this.bars(context, hasSpans ? busy : dots, `color-mix(in srgb, ${colors.accent} 60%, ${colors.row})`);
    if (!hasSpans) this.bars(context, errors, colors.bad, Math.max(...dots, 1e-9));
    this.curve(context, memory, colors.text);
    if (hasSpans) this.ticks(context, errors, colors.bad);
  }

  private bars(
    context: CanvasRenderingContext2D,
    values: number[],
    color: string,
    most = Math.max(1e-9, ...values),
  ): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = width / Math.max(1, values.length);
    context.fillStyle = color;
    context.beginPath();
    values.forEach((value, at) => {
      if (value <= 0) return;
      // The square root makes a single span visible next to a thousand.
      const high = Math.max(1.5, Math.sqrt(value / most) * (height - 5));
      context.rect(at * scale, height - high, Math.max(scale, 0.6), high);
    });
    context.fill();
  }

  private curve(context: CanvasRenderingContext2D, values: number[], color: string): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const most = Math.max(0, ...values);
    if (most <= 0) return;
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.beginPath();
    values.forEach((value, at) =>
      context.lineTo((at * width) / values.length, height - 1 - (value / most) * (height - 5)),
    );
    context.stroke();
  }

  private ticks(context: CanvasRenderingContext2D, values: number[], color: string): void {
    const scale = this.canvas.clientWidth / Math.max(1, values.length);
    context.fillStyle = color;
    values.forEach((value, at) => value > 0 && context.fillRect(at * scale, 0, 1.5, 5));
  }

  /** Everything outside the view is faint; the view has edges that can be dragged. */
  private view(context: CanvasRenderingContext2D, width: number, height: number): void {
    const colors = palette();
    const [left, right] = [this.x(store.state.view.from), this.x(store.state.view.to)];
    const wide = Math.max(right - left, 2);
    context.fillStyle = `color-mix(in srgb, ${colors.back} 62%, transparent)`;
    context.fillRect(0, 0, Math.max(0, left), height);
    context.fillRect(left + wide, 0, Math.max(0, width - left - wide), height);
    const { range } = store.state.selection;
    if (range) {
      context.fillStyle = `color-mix(in srgb, ${colors.accent} 35%, transparent)`;
      context.fillRect(this.x(range.from), 0, Math.max(1, this.x(range.to) - this.x(range.from)), height);
    }
    context.strokeStyle = colors.accent;
    context.lineWidth = 1;
    context.strokeRect(
      Math.max(left, 0) + 0.5,
      0.5,
      Math.max(1, Math.min(left + wide, width) - Math.max(left, 0) - 1),
      height - 1,
    );
    context.fillStyle = colors.accent;
    for (const x of [left, left + wide])
      if (wide > 3 * EDGE && x > 0 && x < width) context.fillRect(x - 1.5, height / 2 - 6, 3, 12);
  }
}
