// The boxes of a flame graph on a canvas: drawing, hit testing, and keyboard navigation.

import type { Paint } from "../../colors";
import { store } from "../../store";
import { paintChange, paintText, palette } from "../../theme";
import { onNextFrame } from "../../widgets/canvas";
import { element } from "../../widgets/dom";
import { growth, NO_BOXES, type Box, type Boxes } from "./tree";

const ROW = 19;
const FONT = "11.5px system-ui, sans-serif";

export interface FlameEvents {
  /** A box was clicked or Enter pressed. */
  pick(number: number): void;
  /** Escape or Backspace; returns false if there is nothing to go back to. */
  back(): boolean;
  /** The pointer or the keys moved to another box. */
  over(number: number, at: { x: number; y: number } | null): void;
}

export class FlameCanvas {
  readonly host: HTMLElement;
  readonly later: () => void;
  private readonly canvas = element("canvas", { "aria-hidden": "true" });
  private readonly space = element("div", { class: "space" });
  private boxes: Boxes = NO_BOXES;
  private focused = 0;
  private hovered = -1;
  private isMatch: ((name: string) => boolean) | null = null;
  private widths = new Map<string, number>();
  private paints = new Map<string, Paint>();

  constructor(private readonly events: FlameEvents) {
    this.space.append(this.canvas);
    this.host = element(
      "div",
      {
        class: "flame",
        tabindex: "0",
        role: "application",
        "aria-label": "Flame graph. Arrows move, Enter zooms in, Escape zooms out.",
      },
      this.space,
    );
    this.later = onNextFrame(this.host, () => this.draw());
    this.host.addEventListener("scroll", () => this.later(), { passive: true });
    this.host.addEventListener("keydown", (event) => this.key(event));
    this.host.addEventListener("focus", () => this.later());
    this.host.addEventListener("blur", () => this.later());
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.hover(-1, null));
    this.canvas.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.later()).observe(this.host);
  }

  /** Shows other boxes. */
  show(boxes: Boxes): void {
    this.boxes = boxes;
    this.focused = 0;
    this.hovered = -1;
    this.paints.clear();
    this.widths.clear();
    this.space.style.height = `${boxes.rows.length * ROW}px`;
    const view = this.host.clientHeight;
    const middle = (boxes.middle + 0.5) * ROW;
    this.host.scrollTop = boxes.middle > 0 ? middle - view / 2 : 0;
    this.later();
  }

  /** Sets the names that match a search; others are drawn faintly. Without a search, all are drawn normally. */
  search(isMatch: ((name: string) => boolean) | null): void {
    this.isMatch = isMatch;
    this.later();
  }

  /** Redraws after the colors changed. */
  repaint(): void {
    this.paints.clear();
    this.later();
  }

  private draw(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    const ratio = devicePixelRatio || 1;
    const [pixels, lines] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== pixels || this.canvas.height !== lines)
      [this.canvas.width, this.canvas.height] = [pixels, lines];
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    const first = Math.floor(this.host.scrollTop / ROW);
    const last = Math.min(this.boxes.rows.length, Math.ceil((this.host.scrollTop + height) / ROW));
    for (let row = first; row < last; row++) this.drawRow(context, row, width);
    this.drawMarks(context, first, last, width);
  }

  private drawRow(context: CanvasRenderingContext2D, row: number, width: number): void {
    const top = row * ROW - this.host.scrollTop;
    const colors = palette();
    let drawnTo = -1;
    for (const number of this.boxes.rows[row] ?? []) {
      const box = this.boxes.list[number];
      if (!box) continue;
      const [left, right] = [box.from * width, box.to * width];
      // Many boxes may share a pixel; the first one is drawn.
      if (right < drawnTo + 0.5 && right - left < 0.5) continue;
      const wide = Math.max(right - left - (right - left > 3 ? 1 : 0), 0.6);
      const look = this.look(box);
      const isFaint = this.isMatch !== null && !(box.name !== null && this.isMatch(box.name));
      context.fillStyle = box.folded > 0 || box.name === null ? colors.line : isFaint ? look.faint.css : look.css;
      context.fillRect(left, top, wide, ROW - 1);
      drawnTo = right;
      if (wide < 26) continue;
      context.fillStyle = box.folded > 0 || box.name === null ? colors.dim : isFaint ? look.faint.text : look.text;
      context.fillText(this.fit(context, label(box), wide - 9), left + 5, top + ROW / 2);
    }
  }

  private drawMarks(context: CanvasRenderingContext2D, first: number, last: number, width: number): void {
    const { name } = store.state.selection;
    const selected = name === null ? null : store.state.names.text(name);
    const mark = (box: Box, color: string, line: number): void => {
      const [left, wide] = [box.from * width, (box.to - box.from) * width];
      if (wide < 3 * line) return;
      context.strokeStyle = color;
      context.lineWidth = line;
      context.strokeRect(
        left + line / 2,
        box.row * ROW - this.host.scrollTop + line / 2,
        wide - line - 1,
        ROW - 1 - line,
      );
    };
    const colors = palette();
    for (let row = first; row < last && selected !== null; row++) {
      for (const number of this.boxes.rows[row] ?? []) {
        const box = this.boxes.list[number];
        if (box?.name === selected) mark(box, colors.text, (box.to - box.from) * width < 24 ? 1 : 2);
      }
    }
    const hovered = this.boxes.list[this.hovered];
    if (hovered) mark(hovered, colors.text, 1);
    const focused = this.boxes.list[this.focused];
    if (focused && this.host.matches(":focus-visible")) mark(focused, colors.accent, 2.5);
  }

  private look(box: Box): Paint {
    const key = this.boxes.isCompared ? growth(box).toFixed(2) : (box.name ?? "");
    const known = this.paints.get(key);
    if (known) return known;
    const made = paintOf(this.boxes, box);
    this.paints.set(key, made);
    return made;
  }

  /** As much of a text as fits. */
  private fit(context: CanvasRenderingContext2D, text: string, room: number): string {
    let full = this.widths.get(text);
    if (full === undefined) this.widths.set(text, (full = context.measureText(text).width));
    if (full <= room) return text;
    const most = Math.floor((text.length * room) / full) - 1;
    return most < 2 ? "" : `${text.slice(0, most)}…`;
  }

  private at(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    const [part, row] = [
      (event.clientX - box.left) / box.width,
      Math.floor((event.clientY - box.top + this.host.scrollTop) / ROW),
    ];
    const slack = 1 / box.width;
    const isAt = (number: number): boolean => {
      const one = this.boxes.list[number];
      return one !== undefined && one.from <= part && part < Math.max(one.to, one.from + slack);
    };
    return this.boxes.rows[row]?.find(isAt) ?? -1;
  }

  private point(event: PointerEvent): void {
    this.hover(this.at(event), { x: event.clientX, y: event.clientY });
  }

  private hover(number: number, at: { x: number; y: number } | null): void {
    if (number !== this.hovered) this.later();
    this.hovered = number;
    this.canvas.style.cursor = number < 0 ? "default" : "pointer";
    this.events.over(number, at);
  }

  private click(event: MouseEvent): void {
    const number = this.at(event);
    if (number < 0) return;
    this.focused = number;
    this.events.pick(number);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" || event.key === "Backspace") {
      if (!this.events.back()) return;
    } else if (event.key === "Enter" || event.key === " ") {
      this.events.pick(this.focused);
    } else if (!this.walk(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Up and down along the stacks, left and right along the row. */
  private walk(key: string): boolean {
    const box = this.boxes.list[this.focused];
    if (!box || !/^(Arrow|Home$)/.test(key)) return false;
    const row = this.boxes.rows[box.row] ?? [];
    const beside = row.indexOf(this.focused);
    const isAbove = box.row < this.boxes.middle;
    const behind = box.children.filter((child) => (this.boxes.list[child]?.row ?? 0) > box.row);
    const before = box.children.filter((child) => (this.boxes.list[child]?.row ?? 0) < box.row);
    const to: Record<string, number | undefined> = {
      ArrowDown: isAbove ? box.parent : behind[0],
      ArrowUp: box.row > this.boxes.middle ? box.parent : before[0],
      ArrowLeft: row[beside - 1],
      ArrowRight: row[beside + 1],
      Home: 0,
    };
    this.focused = to[key] ?? this.focused;
    this.reveal();
    this.events.over(this.focused, null);
    this.later();
    return true;
  }

  private reveal(): void {
    const top = (this.boxes.list[this.focused]?.row ?? 0) * ROW;
    const { scrollTop, clientHeight } = this.host;
    if (top < scrollTop) this.host.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.host.scrollTop = top + ROW - clientHeight;
  }
}

/** The colors of a box: by its name, or by its change. */
export function paintOf({ isCompared }: Boxes, box: Box): Paint {
  return isCompared ? paintChange(growth(box)) : paintText(box.name ?? "");
}

/** The text in a box. */
export function label(box: Box): string {
  if (box.folded > 0) return `${box.folded} smaller`;
  return box.name ?? "everything";
}
