// Draws the timeline.

import { duration, moment, bytes as showBytes } from "../format";
import { store, type View } from "../store";
import { fill, frameFill, levelColor, palette } from "../theme";
import { CHART, ROW, RULER, type Strip } from "./layout";
import type { LaneBars, Picture } from "./picture";
import type { Sample } from "../api";

export interface Scene {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  scroll: number;
  strips: Strip[];
  picture: Picture | null;
  hover: { lane: LaneBars; bar: number } | null;
  box: { from: number; to: number } | null;
}

/** From a time to a pixel. */
export function xOf(ns: number, width: number, view: View = store.view): number {
  return ((ns - view.from) / (view.to - view.from)) * width;
}

/** From a pixel to a time. */
export function nsOf(x: number, width: number, view: View = store.view): number {
  return view.from + (x / width) * (view.to - view.from);
}

export function draw(scene: Scene): void {
  const { context, width, height, scroll } = scene;
  const colors = palette();
  context.fillStyle = colors.back;
  context.fillRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.save();
  context.translate(0, -scroll);
  const seen = scene.strips.filter((strip) => strip.top + strip.height >= scroll && strip.top <= scroll + height);
  for (const strip of seen) drawStrip(scene, strip);
  if (scene.picture) drawLinks(scene, scene.picture);
  context.restore();
  drawRuler(scene);
  drawBox(scene);
}

function drawStrip(scene: Scene, strip: Strip): void {
  const { context, width, picture } = scene;
  const colors = palette();
  if (strip.kind === "head") {
    context.fillStyle = colors.row;
    context.fillRect(0, strip.top, width, strip.height);
    context.fillStyle = colors.line;
    context.fillRect(0, strip.top, width, 1);
    return;
  }
  if (!picture) return;
  switch (strip.kind) {
    case "spans":
    case "frames":
    case "ranges":
    case "switches": {
      const kind = { spans: 0, frames: 1, ranges: 2, switches: 3 }[strip.kind];
      const isFolded = store.folded.has(strip.number);
      for (const lane of picture.lanes) {
        if (lane.track !== strip.number || lane.kind !== kind || (isFolded && lane.depth > 0)) continue;
        drawLane(scene, picture, lane, strip.top + lane.depth * ROW, strip.kind);
      }
      return;
    }
    case "events":
      return drawEvents(scene, picture, strip);
    case "counter": {
      const counter = store.state.counters[strip.number];
      return drawChart(scene, strip, picture.extras.counters[strip.number] ?? [], counter?.min ?? 0, counter?.max ?? 1, String);
    }
    case "memory": {
      const peak = store.state.traces[strip.number]?.memory ?? 1;
      return drawChart(scene, strip, picture.extras.memory[strip.number] ?? [], 0, peak, showBytes);
    }
    case "logs":
      return drawLogs(scene, picture, strip);
  }
}

function drawLane(scene: Scene, picture: Picture, lane: LaneBars, top: number, kind: Strip["kind"]): void {
  const { context, width } = scene;
  const selected = store.selection;
  const offset = xOf(picture.window.from, width);
  const scale = (xOf(picture.window.to, width) - offset) / picture.pixels;
  const height = kind === "switches" ? 6 : ROW - 2;
  const nsPerPixel = (picture.window.to - picture.window.from) / picture.pixels;
  let lastFill = "";
  for (let bar = 0; bar < lane.left.length; bar++) {
    const left = offset + (lane.left[bar] ?? 0) * scale;
    const right = offset + (lane.right[bar] ?? 0) * scale;
    if (right < 0) continue;
    if (left > width) break;
    const x = Math.max(left, -4);
    const w = Math.max(Math.min(right, width + 4) - x, 0.6);
    const name = lane.names[bar] ?? 0;
    let [back, text] = fill(name);
    if (kind === "frames") back = frameFill(((lane.right[bar] ?? 0) - (lane.left[bar] ?? 0)) * nsPerPixel);
    if (kind === "switches") back = palette().bad;
    const isOther = selected.name !== null && selected.name !== name && kind === "spans";
    context.globalAlpha = isOther ? 0.35 : 1;
    if (back !== lastFill) context.fillStyle = lastFill = back;
    context.fillRect(x, top, w > 2 ? w - 0.5 : w, height);
    if (w > 28 && kind !== "switches") {
      label(context, store.name(name), x + 4, top + height / 2, w - 6, text);
      lastFill = "";
    }
    const { place } = selected;
    const isChosen = place && place.track === lane.track && place.kind === lane.kind && place.depth === lane.depth && place.index === lane.indices[bar];
    const isUnder = scene.hover && scene.hover.lane === lane && scene.hover.bar === bar;
    if (isChosen || isUnder) {
      context.globalAlpha = 1;
      context.strokeStyle = isChosen ? palette().text : palette().accent;
      context.lineWidth = isChosen ? 2 : 1;
      context.strokeRect(x + 0.5, top + 0.5, Math.max(w - 1, 1), height - 1);
    }
  }
  context.globalAlpha = 1;
}

const widths = new Map<string, number>();

/** A text that ends where its bar does. */
function label(context: CanvasRenderingContext2D, text: string, x: number, y: number, room: number, color: string): void {
  let width = widths.get(text);
  if (width === undefined) {
    width = context.measureText(text).width;
    if (widths.size > 20_000) widths.clear();
    widths.set(text, width);
  }
  const fits = width <= room ? text : text.slice(0, Math.max(0, Math.floor((text.length * room) / width) - 1)) + "…";
  if (fits.length < 2) return;
  context.fillStyle = color;
  context.fillText(fits, x, y);
}

function drawEvents(scene: Scene, picture: Picture, strip: Strip): void {
  const { context, width } = scene;
  for (const [track, ts, name] of picture.extras.events) {
    if (track !== strip.number) continue;
    const x = xOf(ts, width);
    if (x < -8 || x > width + 8) continue;
    context.fillStyle = store.selection.name === name ? palette().text : palette().warn;
    context.beginPath();
    context.moveTo(x, strip.top + 1);
    context.lineTo(x + 4, strip.top + 7);
    context.lineTo(x, strip.top + 13);
    context.lineTo(x - 4, strip.top + 7);
    context.fill();
  }
}

function drawLogs(scene: Scene, picture: Picture, strip: Strip): void {
  const { context, width } = scene;
  for (const [ts, level, count] of picture.extras.logs) {
    const x = xOf(ts, width);
    context.fillStyle = levelColor(store.name(level));
    const height = Math.min(strip.height - 2, 6 + 3 * Math.log2(1 + count));
    context.fillRect(x, strip.top + strip.height - 1 - height, 1.5, height);
  }
}

function drawChart(scene: Scene, strip: Strip, samples: Sample[], min: number, max: number, show: (value: number) => string): void {
  const { context, width } = scene;
  const colors = palette();
  const height = strip.height - 4;
  const lowest = Math.min(0, min);
  const range = Math.max(max - lowest, Number.EPSILON);
  const y = (value: number): number => strip.top + 2 + height - ((value - lowest) / range) * height;
  context.fillStyle = `color-mix(in srgb, ${colors.accent} 30%, transparent)`;
  context.strokeStyle = colors.accent;
  context.lineWidth = 1;
  context.beginPath();
  samples.forEach(([ts, , high, last], at) => {
    const x = xOf(ts, width);
    const next = samples[at + 1]?.[0];
    const end = next === undefined ? width : xOf(next, width);
    context.fillRect(x, y(high), Math.max(end - x, 0.6), strip.top + 2 + height - y(high));
    if (at === 0) context.moveTo(x, y(last));
    else context.lineTo(x, y(high));
    context.lineTo(end, y(last));
  });
  context.stroke();
  context.fillStyle = colors.dim;
  if (strip.height >= CHART) context.fillText(show(max), width - 70, strip.top + 8);
}

function drawLinks(scene: Scene, picture: Picture): void {
  const { context, width } = scene;
  if (picture.extras.links.length === 0) return;
  const tops = new Map<number, Strip>();
  for (const strip of scene.strips) if (strip.kind === "spans") tops.set(strip.number, strip);
  context.strokeStyle = palette().accent;
  context.lineWidth = 1;
  for (const [fromTrack, fromDepth, fromTs, toTrack, toDepth, toTs] of picture.extras.links) {
    const [from, to] = [tops.get(fromTrack), tops.get(toTrack)];
    if (!from || !to) continue;
    const y = (strip: Strip, depth: number): number => strip.top + Math.min(depth * ROW, strip.height - ROW) + ROW / 2;
    const [x0, y0, x1, y1] = [xOf(fromTs, width), y(from, fromDepth), xOf(toTs, width), y(to, toDepth)];
    const bend = Math.max(20, Math.abs(x1 - x0) / 3);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    context.lineTo(x1 - 5, y1 - 3);
    context.moveTo(x1, y1);
    context.lineTo(x1 - 5, y1 + 3);
    context.stroke();
  }
}

const STEPS = [1, 2, 5];

function stepFor(view: View, width: number): number {
  const wanted = ((view.to - view.from) / width) * 110;
  for (let power = 0; power < 18; power++) {
    for (const step of STEPS) if (step * 10 ** power >= wanted) return step * 10 ** power;
  }
  return 1e18;
}

function drawRuler(scene: Scene): void {
  const { context, width, height } = scene;
  const colors = palette();
  context.fillStyle = colors.row;
  context.fillRect(0, 0, width, RULER);
  const { view } = store;
  const step = stepFor(view, width);
  context.lineWidth = 1;
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const x = Math.round(xOf(at, width)) + 0.5;
    context.strokeStyle = colors.line;
    context.globalAlpha = 0.6;
    context.beginPath();
    context.moveTo(x, RULER);
    context.lineTo(x, height);
    context.stroke();
    context.globalAlpha = 1;
    context.fillStyle = colors.dim;
    context.fillText(moment(at, step), x + 4, RULER / 2);
  }
}

function drawBox(scene: Scene): void {
  const { context, width, height } = scene;
  const box = scene.box ?? store.selection.range;
  if (!box) return;
  const colors = palette();
  const [from, to] = [Math.min(box.from, box.to), Math.max(box.from, box.to)];
  const [x0, x1] = [xOf(from, width), xOf(to, width)];
  context.fillStyle = `color-mix(in srgb, ${colors.accent} 14%, transparent)`;
  context.fillRect(x0, RULER, x1 - x0, height);
  context.fillStyle = colors.accent;
  context.fillRect(x0, 0, 1, height);
  context.fillRect(x1, 0, 1, height);
  context.fillText(duration(to - from), Math.max(4, x0 + 4), RULER + 9);
}
