// Draws the timeline.

import { duration, tick, tickStep } from "../format";
import { noteTime } from "../notes/notes";
import { store } from "../store";
import { palette } from "../theme";
import { anchorTime } from "./align";
import { drawBars } from "./bars";
import { drawChart } from "./charts";
import { between, RULER, type Strip } from "./layout";
import { drawEvents, drawLinks, drawLogs } from "./marks";
import { drawQueried } from "./queried";
import { xOf, type Scene } from "./scale";
import { drawTexts } from "./texts";

/** Size of a flag in pixels. */
const NOTE_WIDTH = 160;

export const FONT = "11px system-ui, sans-serif";

export function draw(scene: Scene): void {
  const { context, width, height, scroll } = scene;
  context.fillStyle = palette().back;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  context.imageSmoothingEnabled = false;
  const step = stepFor(width);
  drawGrid(scene, step);
  context.save();
  context.translate(0, -scroll);
  const seen = between(scene.strips, scroll, scroll + height);
  for (const strip of seen) drawStrip(scene, strip);
  if (scene.picture) drawLinks(scene, scene.picture);
  drawSelection(scene);
  context.restore();
  drawRuler(scene, step);
  drawNotes(scene);
  drawHeld(scene);
  drawCursor(scene);
  drawScrollbar(scene);
}

function drawStrip(scene: Scene, strip: Strip): void {
  const { context, width, picture } = scene;
  const colors = palette();
  if (strip.kind === "head" || strip.kind === "group") {
    context.fillStyle = strip.kind === "group" ? colors.line : colors.row;
    context.fillRect(0, strip.top, width, strip.height);
    context.fillStyle = colors.line;
    context.fillRect(0, strip.top, width, 1);
    return;
  }
  if (strip.kind === "queried") return drawQueried(scene, strip);
  if (!picture) return;
  switch (strip.kind) {
    case "spans":
    case "frames":
    case "ranges":
    case "switches":
      return drawBars(scene, picture, strip);
    case "bookmarks":
    case "events":
      return drawEvents(scene, picture, strip);
    case "counter":
    case "memory":
      return drawChart(scene, picture, strip);
    case "text":
      return drawTexts(scene, picture, strip);
    case "logs":
      return drawLogs(scene, picture, strip);
  }
}

/** The distance of ticks, with as many ticks as are readable. */
function stepFor(width: number): number {
  const { from, to } = store.state.view;
  const pixel = (to - from) / width;
  let step = tickStep(pixel * 90);
  // A long time with a fine step needs space for all its digits.
  while (tick(to, step, furthest()).length * 6.5 + 24 > step / pixel) step = tickStep(step * 1.01);
  return step;
}

function furthest(): number {
  return Math.max(Math.abs(store.state.view.from), Math.abs(store.state.view.to));
}

function eachTick(scene: Scene, step: number, work: (ns: number, x: number) => void): void {
  // Without times, there is no axis.
  if (store.state.server.from_ns === null) return;
  const first = Math.ceil(store.state.view.from / step);
  const count = Math.min(200, Math.floor(store.state.view.to / step) - first);
  for (let at = 0; at <= count; at++)
    work((first + at) * step, Math.round(xOf((first + at) * step, scene.width)) + 0.5);
}

function drawGrid(scene: Scene, step: number): void {
  const { context, height } = scene;
  context.strokeStyle = palette().line;
  context.lineWidth = 1;
  context.globalAlpha = 0.55;
  context.beginPath();
  eachTick(scene, step, (_, x) => {
    context.moveTo(x, RULER);
    context.lineTo(x, height);
  });
  context.stroke();
  context.globalAlpha = 1;
}

function drawRuler(scene: Scene, step: number): void {
  const { context, width } = scene;
  const colors = palette();
  context.fillStyle = colors.row;
  context.fillRect(0, 0, width, RULER);
  const { range } = store.state.selection;
  if (range) {
    const [x0, x1] = [xOf(range.from, width), xOf(range.to, width)];
    context.fillStyle = `color-mix(in srgb, ${colors.accent} 26%, transparent)`;
    context.fillRect(x0, 0, Math.max(1, x1 - x0), RULER);
  }
  context.fillStyle = colors.line;
  context.fillRect(0, RULER - 1, width, 1);
  context.strokeStyle = colors.dim;
  context.beginPath();
  eachTick(scene, step, (ns, x) => {
    context.moveTo(x, RULER - 7);
    context.lineTo(x, RULER - 1);
    context.fillStyle = colors.dim;
    context.fillText(tick(ns, step, furthest()), x + 4, RULER / 2);
  });
  context.stroke();
}

/** Flags on the ruler, with as much of the text as fits before the next one. */
function drawNotes(scene: Scene): void {
  const { context, width } = scene;
  const colors = palette();
  const placed = store.state.notes.map((noted) => ({
    x: xOf(noteTime(store.state, noted), width),
    text: noted.note.text,
  }));
  const flags = placed.filter(({ x }) => x > -NOTE_WIDTH && x < width).sort((one, other) => one.x - other.x);
  flags.forEach(({ x, text }, at) => {
    const room = Math.min((flags[at + 1]?.x ?? width) - x - 4, NOTE_WIDTH);
    context.save();
    context.fillStyle = colors.accent;
    context.fillRect(x, 0, 2, RULER);
    context.beginPath();
    context.rect(x, 0, Math.max(8, room), 13);
    context.clip();
    context.fillRect(x, 0, Math.min(Math.max(8, room), context.measureText(text).width + 10), 13);
    context.fillStyle = colors.back;
    if (room > 16) context.fillText(text, x + 5, 7);
    context.restore();
  });
}

/** A dashed line at the held span, with which another one will be aligned. */
function drawHeld(scene: Scene): void {
  const { context, width, height } = scene;
  const { held } = store.state;
  if (!held) return;
  const x = Math.round(xOf(anchorTime(store.state, held), width)) + 0.5;
  context.save();
  context.strokeStyle = palette().accent;
  context.lineWidth = 1;
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
  context.restore();
}

/** The selected time range, on the selected tracks. */
function drawSelection(scene: Scene): void {
  const { context, width, height, scroll, box } = scene;
  const { range, tracks } = store.state.selection;
  const colors = palette();
  const tint = `color-mix(in srgb, ${colors.accent} 13%, transparent)`;
  const shown = box ?? range;
  if (!shown) return;
  const [from, to] = [Math.min(shown.from, shown.to), Math.max(shown.from, shown.to)];
  const [x0, x1] = [xOf(from, width), xOf(to, width)];
  if (x1 < 0 || x0 > width) return;
  context.fillStyle = tint;
  if (box) {
    const [top, bottom] =
      box.top === null ? [scroll, scroll + height] : [Math.min(box.top, box.bottom), Math.max(box.top, box.bottom)];
    context.fillRect(x0, top, x1 - x0, bottom - top);
    context.strokeStyle = colors.accent;
    context.lineWidth = 1;
    context.strokeRect(x0 + 0.5, top + 0.5, x1 - x0, bottom - top);
  } else if (tracks === null) {
    context.fillRect(x0, scroll, x1 - x0, height);
  } else {
    for (const strip of between(scene.strips, scroll, scroll + height)) {
      if (strip.track !== null && tracks.includes(strip.track)) context.fillRect(x0, strip.top, x1 - x0, strip.height);
    }
  }
  context.fillStyle = colors.accent;
  context.fillRect(Math.round(x0), scroll, 1, height);
  context.fillRect(Math.round(x1), scroll, 1, height);
  const text = duration(to - from);
  const room = context.measureText(text).width;
  const x = Math.min(Math.max((x0 + x1 - room) / 2, 6), width - room - 6);
  context.fillRect(x - 5, scroll + RULER + 3, room + 10, 16);
  context.fillStyle = colors.back;
  context.fillText(text, x, scroll + RULER + 11.5);
}

/** A line through all tracks at the pointer. */
function drawCursor(scene: Scene): void {
  const { context, cursor, height } = scene;
  if (!cursor) return;
  context.fillStyle = palette().dim;
  context.globalAlpha = 0.5;
  context.fillRect(Math.round(cursor.x), 0, 1, height);
  context.globalAlpha = 1;
}

export const SCROLLBAR = 9;

/** The position of the thumb of the scroll bar; null if everything is visible. */
export function thumb(scene: Scene): { top: number; height: number } | null {
  const room = scene.height - RULER;
  if (scene.contentHeight <= scene.height) return null;
  const height = Math.max(24, (room * scene.height) / scene.contentHeight);
  const top = RULER + ((room - height) * scene.scroll) / (scene.contentHeight - scene.height);
  return { top, height };
}

function drawScrollbar(scene: Scene): void {
  const { context, width } = scene;
  const place = thumb(scene);
  if (!place) return;
  context.fillStyle = palette().dim;
  context.globalAlpha = 0.45;
  context.beginPath();
  context.roundRect(width - SCROLLBAR + 2, place.top + 1, SCROLLBAR - 4, place.height - 2, 3);
  context.fill();
  context.globalAlpha = 1;
}
