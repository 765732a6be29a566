// Draws the bars of lanes: narrow ones as pixels of an image, wide ones with their names.

import { duration } from "../format";
import { store } from "../store";
import { fading, type Range } from "../store/state";
import type { Paint, Tone } from "../colors";
import { framePaint, paint, palette, switchPaint } from "../theme";
import { LANE_KINDS, ROW, type Strip } from "./layout";
import type { LaneBars, Picture } from "./picture";
import { placed, type Scene } from "./scale";

/** Minimum width of bars that are drawn as rectangles. */
const WIDE = 3;
/** Minimum width of bars that have a name. */
const NAMED = 30;

/** One line of pixels that is stretched to the height of a row; a lane draws hundreds of narrow bars as one image. */
class Line {
  private readonly canvas = document.createElement("canvas");
  private readonly context = this.canvas.getContext("2d", { willReadFrequently: true });
  private image = new ImageData(1, 1);
  private pixels = new Uint32Array(1);
  private lengths = new Float32Array(1);
  private first = 0;
  private last = -1;

  start(width: number): void {
    const whole = Math.max(1, Math.ceil(width));
    if (this.image.width !== whole) {
      this.canvas.width = whole;
      this.canvas.height = 1;
      this.image = new ImageData(whole, 1);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.lengths = new Float32Array(whole);
    } else if (this.last >= this.first) {
      this.pixels.fill(0, this.first, this.last + 1);
      this.lengths.fill(0, this.first, this.last + 1);
    }
    this.first = whole;
    this.last = -1;
  }

  /** Paints a range; if bars share a pixel, the longest one is visible. */
  put(left: number, right: number, length: number, busy: number, color: number): void {
    const from = Math.max(0, Math.floor(left));
    const to = Math.min(this.pixels.length - 1, Math.max(from, Math.ceil(right) - 1));
    // A partially covered pixel is lighter, but always visible.
    const cover = 0.35 + 0.65 * Math.min(1, right - left) * busy;
    const pixel = ((color & 0xffffff) | (Math.round(cover * 255) << 24)) >>> 0;
    for (let at = from; at <= to; at++) {
      if ((this.lengths[at] ?? 0) > length) continue;
      this.pixels[at] = pixel;
      this.lengths[at] = length;
    }
    if (from < this.first) this.first = from;
    if (to > this.last) this.last = to;
  }

  draw(target: CanvasRenderingContext2D, ratio: number, top: number, height: number): void {
    if (!this.context || this.last < this.first) return;
    const wide = this.last - this.first + 1;
    this.context.putImageData(this.image, 0, 0, this.first, 0, wide, 1);
    target.drawImage(this.canvas, this.first, 0, wide, 1, this.first / ratio, top, wide / ratio, height);
  }
}

const line = new Line();

/** Draws the lanes of a strip. */
export function drawBars(scene: Scene, picture: Picture, strip: Strip): void {
  const kind = LANE_KINDS[strip.kind];
  const { folded, isCompact } = store.state.tracks;
  const isFolded = isCompact || folded.has(strip.number);
  const [top, bottom] = [scene.scroll, scene.scroll + scene.height];
  for (const lane of picture.lanes.get(strip.number) ?? []) {
    if (lane.kind !== kind || (isFolded && lane.depth > 0)) continue;
    const at = strip.top + lane.depth * ROW;
    if (at + ROW >= top && at <= bottom && at < strip.top + strip.height)
      drawLane(scene, picture, lane, { top: at, high: strip.height, kind: strip.kind });
  }
}

/** The position of a lane. */
interface Row {
  top: number;
  /** The height of its strip, which may be less than a row. */
  high: number;
  kind: Strip["kind"];
}

function drawLane(scene: Scene, picture: Picture, lane: LaneBars, { top, high, kind }: Row): void {
  const { context, width } = scene;
  const ratio = devicePixelRatio || 1;
  const { offset, scale } = placed(picture, width);
  const [y, height] = kind === "switches" ? [top + 2, 6] : [top + 1, Math.min(ROW, high) - 1];
  const fade = kind === "spans" || kind === "ranges" ? fading(store.state) : null;
  const kept = fade && childrenIn(lane, picture);
  /** The color of a bar; bars inside the selected span are as strong as the span. */
  const toneOf = (colors: Paint, bar: number): Tone => {
    if (!fade?.isFaded(names[bar] as number)) return colors;
    const isKept = kept && (lefts[bar] as number) >= kept.from && (rights[bar] as number) <= kept.to;
    return isKept ? colors : colors[fade.tone];
  };
  const switches = kind === "switches" ? switchPaint() : null;
  const { left: lefts, right: rights, names, lengths } = lane;
  line.start(width * ratio);
  let lastFill = "";
  const wide: number[] = [];
  for (let bar = 0; bar < lefts.length; bar++) {
    const left = offset + (lefts[bar] as number) * scale;
    const right = offset + (rights[bar] as number) * scale;
    if (right < 0) continue;
    if (left > width) break;
    const name = names[bar] as number;
    const length = lengths[bar] as number;
    const colors: Paint = switches ?? (kind === "frames" ? framePaint(length) : paint(name));
    const tone = toneOf(colors, bar);
    if (right - left < WIDE) {
      line.put(left * ratio, right * ratio, length, lane.busy[bar] as number, tone.pixel);
      continue;
    }
    const x = Math.max(left, -4);
    const w = Math.min(right, width + 4) - x;
    if (tone.css !== lastFill) context.fillStyle = lastFill = tone.css;
    context.fillRect(x, y, w - 0.6, height);
    if (w > NAMED && kind !== "switches" && height > 11) wide.push(bar);
  }
  line.draw(context, ratio, y, height);
  for (const bar of wide) {
    const left = Math.max(offset + (lefts[bar] as number) * scale, 0);
    const right = Math.min(offset + (rights[bar] as number) * scale, width);
    const name = names[bar] as number;
    const colors = kind === "frames" ? framePaint(lengths[bar] as number) : paint(name);
    context.fillStyle = toneOf(colors, bar).text;
    const room = { x: left + 5, y: y + height / 2 + 0.5, width: right - left - 9 };
    label(context, name, lengths[bar] as number, room);
  }
  outline(scene, lane, { y, height, offset, scale });
}

/** The range of a lane that the selected span covers, if the lane holds its children, in pixels of the picture. */
function childrenIn(lane: LaneBars, picture: Picture): Range | null {
  const { span, place } = store.state.selection;
  if (!span || place?.track !== lane.track || place.kind !== lane.kind || lane.depth <= place.depth) return null;
  const { from, to } = picture.window;
  const scale = picture.pixels / (to - from);
  const end = span.dur_ns === null ? Infinity : span.ts_ns + span.dur_ns;
  // Edges were rounded to 32-bit numbers and clipped to the window.
  return { from: (span.ts_ns - from) * scale - 0.6, to: (end - from) * scale + 0.6 };
}

/** Outlines the selected bar and the bar under the pointer. */
function outline(scene: Scene, lane: LaneBars, at: { y: number; height: number; offset: number; scale: number }): void {
  const { context, width, hover } = scene;
  const { place } = store.state.selection;
  const isHere = place?.track === lane.track && place.kind === lane.kind && place.depth === lane.depth;
  const chosen = isHere ? lane.indices.indexOf(place.index) : -1;
  const under = hover?.lane === lane ? hover.bar : -1;
  for (const [bar, color, thickness] of [
    [under, palette().accent, 1],
    [chosen, palette().text, 2],
  ] as const) {
    if (bar < 0) continue;
    const left = Math.max(at.offset + (lane.left[bar] ?? 0) * at.scale, -4);
    const right = Math.min(at.offset + (lane.right[bar] ?? 0) * at.scale, width + 4);
    context.strokeStyle = color;
    context.lineWidth = thickness;
    context.strokeRect(left + 0.5, at.y + 0.5, Math.max(right - left - 1.5, 1), at.height - 1);
  }
}

/** Cache of measured names; a number never gets another name. */
const widths: number[] = [];
const tails: { text: string; width: number }[] = [];

/** Max length of a name; no bar is wide enough for more. */
const LONGEST = 400;

/** The space for a name. */
interface Room {
  x: number;
  y: number;
  width: number;
}

/** The name of a bar, with its duration if there is room; if there is too little room, its last part or its start. */
function label(context: CanvasRenderingContext2D, name: number, ns: number, { x, y, width: room }: Room): void {
  const text = store.state.names.text(name).slice(0, LONGEST);
  const width = (widths[name] ??= context.measureText(text).width);
  if (width <= room) {
    context.fillText(text, x, y);
    if (room - width > 64 && ns > 0) {
      context.globalAlpha = 0.65;
      context.fillText(duration(ns), x + width + 8, y);
      context.globalAlpha = 1;
    }
    return;
  }
  const tail = (tails[name] ??= tailOf(context, text, width));
  if (tail.width <= room) return context.fillText(tail.text, x, y);
  const letters = Math.floor((tail.text.length * (room - 9)) / tail.width);
  if (letters >= 2) context.fillText(`${tail.text.slice(0, letters)}…`, x, y);
}

/** The last part of a qualified name, which distinguishes it from its neighbors. */
function tailOf(context: CanvasRenderingContext2D, name: string, width: number): { text: string; width: number } {
  // A dot more often starts an extension than a part.
  const parts = name.split(/[/\\]/.test(name) ? /[/\\]/ : /::|#/);
  const text = parts.at(-1);
  return text ? { text, width: context.measureText(text).width } : { text: name, width };
}
