// The timeline: draws when something changed, asks when the view moved, and follows mouse and keys.

import { ask, type Found, type SpanDetails } from "../api";
import { count, duration, moment, share } from "../format";
import { store } from "../store";
import { forgetFills, palette } from "../theme";
import { draw, nsOf, xOf, type Scene } from "./draw";
import { layout, shownTracks, type Strip } from "./layout";
import { barAt, Painter, placeOf, type LaneBars } from "./picture";

const GUTTER = 170;

export class Timeline {
  private readonly host = document.getElementById("timeline") as HTMLElement;
  private readonly canvas = document.getElementById("picture") as HTMLCanvasElement;
  private readonly labels = document.getElementById("labels") as HTMLElement;
  private readonly card = document.getElementById("hover") as HTMLElement;
  private readonly scene: Scene;
  private readonly painter = new Painter(() => this.invalidate());
  private waiting = 0;
  private frame = 0;
  private contentHeight = 0;

  constructor() {
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser cannot draw");
    this.scene = { context, width: 0, height: 0, scroll: 0, strips: [], picture: null, hover: null, box: null };
    new ResizeObserver(() => this.resize()).observe(this.host);
    store.on("view", () => this.moved());
    store.on("state", () => this.arrange());
    store.on("tracks", () => this.arrange());
    store.on("selection", () => this.invalidate());
    store.on("theme", () => this.invalidate());
    this.listen();
    this.resize();
  }

  private get width(): number {
    return this.scene.width;
  }

  private resize(): void {
    const box = this.host.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    this.scene.width = Math.max(50, box.width - GUTTER);
    this.scene.height = Math.max(50, box.height);
    this.canvas.width = Math.round(this.scene.width * ratio);
    this.canvas.height = Math.round(this.scene.height * ratio);
    this.canvas.style.width = `${this.scene.width}px`;
    this.canvas.style.height = `${this.scene.height}px`;
    this.scene.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.moved();
  }

  /** Places the tracks anew. */
  arrange(): void {
    forgetFills();
    const { strips, height } = layout();
    this.scene.strips = strips;
    this.contentHeight = height;
    this.writeLabels();
    this.moved();
  }

  private writeLabels(): void {
    this.labels.replaceChildren(
      ...this.scene.strips.filter((strip) => strip.label !== "").map((strip) => this.labelOf(strip)),
    );
    this.placeLabels();
  }

  private labelOf(strip: Strip): HTMLElement {
    const row = document.createElement("div");
    row.className = `label ${strip.kind}`;
    row.dataset["top"] = String(strip.top);
    row.style.height = `${strip.height}px`;
    const text = document.createElement("span");
    text.textContent = strip.label;
    text.title = strip.label;
    row.append(text);
    if (strip.kind === "head") {
      const track = strip.number;
      text.textContent = `${store.folded.has(track) ? "▸" : "▾"} ${strip.label}`;
      text.setAttribute("role", "button");
      text.tabIndex = 0;
      const fold = (): void => this.flip(store.folded, track);
      text.addEventListener("click", fold);
      text.addEventListener("keydown", (event) => event.key === "Enter" && fold());
      row.append(
        this.button(store.pinned.has(track) ? "★" : "☆", "Pin to the top", () => this.flip(store.pinned, track)),
        this.button("↑", "Move up", () => this.shift(track, -1)),
        this.button("↓", "Move down", () => this.shift(track, 1)),
        this.button("×", "Hide; H shows all again", () => this.flip(store.hidden, track)),
      );
    }
    return row;
  }

  private button(text: string, title: string, work: () => void): HTMLButtonElement {
    const button = document.createElement("button");
    button.textContent = text;
    button.title = title;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", work);
    return button;
  }

  private flip(set: Set<number>, track: number): void {
    if (!set.delete(track)) set.add(track);
    store.tell("tracks");
  }

  private shift(track: number, by: number): void {
    const order = shownTracks();
    const at = order.indexOf(track);
    const to = Math.min(Math.max(at + by, 0), order.length - 1);
    order.splice(at, 1);
    order.splice(to, 0, track);
    store.order = order;
    store.tell("tracks");
  }

  private placeLabels(): void {
    for (const label of this.labels.children as HTMLCollectionOf<HTMLElement>) {
      label.style.transform = `translateY(${Number(label.dataset["top"]) - this.scene.scroll}px)`;
    }
  }

  /** The view moved: draw what is there at once, and ask for what is not. */
  private moved(): void {
    this.invalidate();
    clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => {
      const seen = this.scene.strips.filter(
        (strip) => strip.top + strip.height >= this.scene.scroll && strip.top <= this.scene.scroll + this.scene.height,
      );
      const tracks = new Set(seen.filter((strip) => strip.kind !== "counter" && strip.kind !== "memory").map((strip) => strip.number));
      void this.painter.want(store.view, Math.ceil(this.width), [...tracks]);
    }, 30);
  }

  private invalidate(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.scene.picture = this.painter.picture;
      draw(this.scene);
    });
  }

  private scrollTo(top: number): void {
    this.scene.scroll = Math.min(Math.max(top, 0), Math.max(0, this.contentHeight - this.scene.height));
    this.placeLabels();
    this.moved();
  }

  zoom(factor: number, x = this.width / 2): void {
    const at = nsOf(x, this.width);
    const { from, to } = store.view;
    store.look(at - (at - from) * factor, at + (to - at) * factor);
  }

  pan(pixels: number): void {
    const by = (pixels / this.width) * (store.view.to - store.view.from);
    store.look(store.view.from + by, store.view.to + by);
  }

  scroll(pixels: number): void {
    this.scrollTo(this.scene.scroll + pixels);
  }

  private listen(): void {
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.labels.addEventListener("wheel", (event) => this.scroll(event.deltaY), { passive: true });
    this.canvas.addEventListener("pointerdown", (event) => this.drag(event));
    this.canvas.addEventListener("pointermove", (event) => event.buttons === 0 && this.hover(event.offsetX, event.offsetY));
    this.canvas.addEventListener("pointerleave", () => this.unhover());
    this.canvas.addEventListener("dblclick", () => this.zoomToSelection());
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    if (event.shiftKey) return this.scroll(event.deltaY || event.deltaX);
    if (event.altKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return this.pan(event.deltaX || event.deltaY);
    this.zoom(Math.exp(Math.min(Math.max(event.deltaY, -200), 200) / 300), event.offsetX);
  }

  /** Dragging moves; with shift, or on the ruler, it selects a stretch of time. */
  private drag(down: PointerEvent): void {
    if (down.button !== 0) return;
    const isBox = down.shiftKey || down.offsetY < 22;
    const start = { x: down.offsetX, y: down.offsetY, view: store.view, scroll: this.scene.scroll };
    let hasMoved = false;
    this.canvas.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent): void => {
      hasMoved ||= Math.abs(event.offsetX - start.x) + Math.abs(event.offsetY - start.y) > 3;
      if (!hasMoved) return;
      this.unhover();
      if (isBox) {
        this.scene.box = { from: nsOf(start.x, this.width), to: nsOf(event.offsetX, this.width) };
        return this.invalidate();
      }
      const by = ((start.x - event.offsetX) / this.width) * (start.view.to - start.view.from);
      store.look(start.view.from + by, start.view.to + by);
      this.scrollTo(start.scroll + start.y - event.offsetY);
    };
    const up = (event: PointerEvent): void => {
      this.canvas.removeEventListener("pointermove", move);
      const { box } = this.scene;
      this.scene.box = null;
      if (box) store.select({ range: { from: Math.min(box.from, box.to), to: Math.max(box.from, box.to) } });
      else if (!hasMoved) void this.click(event.offsetX, event.offsetY);
    };
    this.canvas.addEventListener("pointermove", move);
    this.canvas.addEventListener("pointerup", up, { once: true });
  }

  /** The bar under a point. */
  private under(x: number, y: number): { lane: LaneBars; bar: number } | null {
    const picture = this.scene.picture;
    const top = y + this.scene.scroll;
    const strip = this.scene.strips.find((one) => one.top <= top && top < one.top + one.height);
    if (!picture || !strip) return null;
    const kind = { spans: 0, frames: 1, ranges: 2, switches: 3 }[strip.kind as "spans"];
    if (kind === undefined) return null;
    const depth = strip.kind === "switches" ? 0 : Math.floor((top - strip.top) / 18);
    const lane = picture.lanes.find((one) => one.track === strip.number && one.kind === kind && one.depth === depth);
    if (!lane) return null;
    const offset = xOf(picture.window.from, this.width);
    const scale = (xOf(picture.window.to, this.width) - offset) / picture.pixels;
    const bar = barAt(lane, (x - offset) / scale, 3 / scale);
    return bar < 0 ? null : { lane, bar };
  }

  private unhover(): void {
    this.card.hidden = true;
    if (this.scene.hover) {
      this.scene.hover = null;
      this.invalidate();
    }
  }

  private hover(x: number, y: number): void {
    const under = this.under(x, y);
    if (under?.lane !== this.scene.hover?.lane || under?.bar !== this.scene.hover?.bar) {
      this.scene.hover = under;
      this.invalidate();
      if (under && under.lane.kind < 3) void this.showCard(under);
      else this.card.hidden = true;
    }
    const [left, top] = [Math.min(x + GUTTER + 14, this.width + GUTTER - 320), y + 18];
    this.card.style.transform = `translate(${left}px, ${top}px)`;
  }

  private async showCard(under: { lane: LaneBars; bar: number }): Promise<void> {
    const span = await ask<SpanDetails>("span", { ...placeOf(under.lane, under.bar) }).catch(() => null);
    if (!span || this.scene.hover?.lane !== under.lane || this.scene.hover.bar !== under.bar) return;
    this.card.replaceChildren(...describe(span, under.lane.counts[under.bar] ?? 1));
    this.card.hidden = false;
  }

  private async click(x: number, y: number): Promise<void> {
    const under = this.under(x, y);
    if (!under || under.lane.kind === 3) {
      return store.select({ place: null, span: null, name: null, range: null });
    }
    const place = placeOf(under.lane, under.bar);
    store.select({ place, name: under.lane.names[under.bar] ?? null });
    const span = await ask<SpanDetails>("span", { ...place });
    if (store.selection.place === place) store.select({ span });
  }

  /** The next or the previous span of the selected name. */
  async step(back: boolean): Promise<void> {
    const { name, span } = store.selection;
    if (name === null) return;
    const ts = Math.round(span?.ts_ns ?? store.view.from);
    const found = await ask<Found | null>("next", { name, ts, back });
    if (found) await this.show(found);
  }

  /** Brings a span into view and selects it. */
  async show(found: Found): Promise<void> {
    const place = { track: found.track, kind: found.kind, depth: found.depth, index: found.index };
    const width = store.view.to - store.view.from;
    const length = found.dur_ns ?? 0;
    if (found.ts_ns < store.view.from || found.ts_ns + length > store.view.to || length < width / 500) {
      const wanted = Math.max(Math.min(width, length * 50), length * 1.5, 100);
      store.look(found.ts_ns + length / 2 - wanted / 2, found.ts_ns + length / 2 + wanted / 2);
    }
    this.reveal(found.track, found.depth);
    const span = await ask<SpanDetails>("span", place);
    store.select({ place, span, name: span.name_id });
  }

  private reveal(track: number, depth: number): void {
    store.hidden.delete(track);
    store.folded.delete(track);
    this.arrange();
    const strip = this.scene.strips.find((one) => one.kind === "spans" && one.number === track);
    if (!strip) return;
    const top = strip.top + depth * 18;
    if (top < this.scene.scroll + 40 || top > this.scene.scroll + this.scene.height - 40) {
      this.scrollTo(top - this.scene.height / 2);
    }
  }

  zoomToSelection(): void {
    const { range, span } = store.selection;
    if (range) store.look(range.from, range.to);
    else if (span) {
      const margin = (span.dur_ns ?? 100) * 0.1 + 5;
      store.look(span.ts_ns - margin, span.ts_ns + (span.dur_ns ?? 0) + margin);
    }
  }

  /** The picture as a file. */
  save(): void {
    this.canvas.toBlob((blob) => {
      if (!blob) return;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = "traceloom.png";
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
}

/** Everything about a span, as rows of text. */
export function describe(span: SpanDetails, shared = 1): HTMLElement[] {
  const rows: [string, string][] = [
    ["total", duration(span.dur_ns)],
    ["own", span.self_ns === undefined ? "" : duration(span.self_ns)],
    ["at", moment(span.ts_ns)],
    ["average", duration(span.name_total_ns / Math.max(1, span.name_count))],
    ["calls", count(span.name_count)],
    ["share of its name", share(span.dur_ns ?? 0, span.name_total_ns)],
    ["where", span.file ? `${span.file}${span.line ? `:${span.line}` : ""}` : ""],
    ...(span.args ?? []).map(([key, idx, , value]): [string, string] => [idx === null ? key : `${key}[${idx}]`, value ?? "null"]),
  ];
  const title = document.createElement("strong");
  title.textContent = shared > 1 ? `${span.name} and ${shared - 1} more in this pixel` : span.name;
  const table = document.createElement("dl");
  for (const [key, value] of rows.filter(([, value]) => value !== "")) {
    const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = key;
    detail.textContent = value;
    table.append(term, detail);
  }
  return [title, table];
}

/** How busy the whole trace is, with the view in it. */
export class Minimap {
  private readonly canvas = document.getElementById("minimap") as HTMLCanvasElement;
  private busy: number[] = [];

  constructor() {
    store.on("state", () => void this.load());
    store.on("view", () => this.draw());
    store.on("theme", () => this.draw());
    this.canvas.addEventListener("pointerdown", (event) => this.move(event));
    this.canvas.addEventListener("pointermove", (event) => event.buttons === 1 && this.move(event));
    new ResizeObserver(() => void this.load()).observe(this.canvas);
  }

  private async load(): Promise<void> {
    const pixels = Math.max(1, Math.round(this.canvas.getBoundingClientRect().width));
    this.busy = await ask<number[]>("minimap", { px: pixels }).catch(() => []);
    this.draw();
  }

  private move(event: PointerEvent): void {
    const all = store.extent();
    const at = all.from + (event.offsetX / this.canvas.clientWidth) * (all.to - all.from);
    const half = (store.view.to - store.view.from) / 2;
    store.look(at - half, at + half);
  }

  private draw(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.canvas.width = width;
    this.canvas.height = height;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const colors = palette();
    context.fillStyle = colors.row;
    context.fillRect(0, 0, width, height);
    const most = Math.max(1e-9, ...this.busy);
    context.fillStyle = colors.accent;
    this.busy.forEach((busy, x) => {
      const high = (busy / most) * (height - 4);
      context.fillRect(x, height - high, 1, high);
    });
    const all = store.extent();
    const x = (ns: number): number => ((ns - all.from) / (all.to - all.from)) * width;
    context.fillStyle = `color-mix(in srgb, ${colors.text} 16%, transparent)`;
    context.fillRect(x(store.view.from), 0, Math.max(2, x(store.view.to) - x(store.view.from)), height);
  }
}

