// Draws events, log lines and arrows.

import { store } from "../store";
import { fading } from "../store/state";
import { levelColor, levelRank, paint, palette } from "../theme";
import type { EventMark } from "../wire";
import { ROW, type Strip } from "./layout";
import type { Picture } from "./picture";
import { pixelOf, smoothed } from "./samples";
import { xOf, type Scene } from "./scale";

/** Categories of events that a person set. */
const BOOKMARK = "bookmark";

function colorOf(name: number, category: string): string {
  const colors = palette();
  if (category === BOOKMARK) return colors.warn;
  if (category === "gc") return colors.bad;
  return category === "mark" || category === "marker" ? colors.accent : paint(name).css;
}

/** A flag for events that a person set, a triangle for a mark, a diamond for others. */
function shape(context: CanvasRenderingContext2D, category: string, x: number, top: number): void {
  context.beginPath();
  if (category === BOOKMARK) {
    context.rect(x - 0.75, top + 2, 1.5, 14);
    context.moveTo(x, top + 2);
    context.lineTo(x + 8, top + 5);
    context.lineTo(x, top + 9);
  } else if (category === "mark" || category === "marker") {
    context.moveTo(x - 5, top + 3);
    context.lineTo(x + 5, top + 3);
    context.lineTo(x, top + 14);
  } else {
    context.moveTo(x, top + 3);
    context.lineTo(x + 5, top + 9);
    context.lineTo(x, top + 15);
    context.lineTo(x - 5, top + 9);
  }
  context.fill();
}

/** The events of a strip; events that a person set have a separate strip. */
export function eventsOf(picture: Picture, strip: Strip): EventMark[] {
  const { names } = store.state;
  const isOwn = ([, , , category]: EventMark): boolean =>
    (names.text(category) === BOOKMARK) === (strip.kind === "bookmarks");
  return (picture.events.get(strip.number) ?? []).filter(isOwn);
}

export function drawEvents(scene: Scene, picture: Picture, strip: Strip): void {
  const { context, width } = scene;
  const own = eventsOf(picture, strip);
  const { names } = store.state;
  const fade = fading(store.state);
  // If the text of a bookmark would run into the next one, only the last of the group shows its text.
  let untold = 0;
  own.forEach(([, ts, name, categoryName, shared], at) => {
    const x = xOf(ts, width);
    if (x < -200 || x > width + 8) return;
    const category = names.text(categoryName);
    context.globalAlpha = fade?.isFaded(name) ? { soft: 0.7, faint: 0.3 }[fade.tone] : 1;
    context.fillStyle = colorOf(name, category);
    const next = own[at + 1]?.[1];
    const away = (next === undefined ? width : xOf(next, width)) - x;
    const isBookmark = category === BOOKMARK;
    // If events are close together, lines show as much as shapes and are cheaper.
    if (away < 7 && !isBookmark) context.fillRect(Math.round(x) - 1, strip.top + 4, 2, 10);
    else shape(context, category, x, strip.top);
    const room = away - 16;
    if (room > 24) {
      const others = shared + untold - 1;
      const text = names.text(name).slice(0, 200) + (others > 0 ? ` +${others}` : "");
      const fits = text.slice(0, Math.floor(room / 6));
      context.fillStyle = palette().text;
      context.fillText(fits === text ? fits : `${fits.slice(0, -1)}…`, x + 10, strip.top + ROW / 2 + 0.5);
    }
    untold = isBookmark && room <= 24 ? untold + shared : 0;
    context.globalAlpha = 1;
  });
}

/** Levels, most severe at the top. */
const LEVEL_ROWS = 4;

/** One row per level, which is stronger if there are more lines. */
export function drawLogs(scene: Scene, picture: Picture, strip: Strip): void {
  const { context, width } = scene;
  const { window, pixels } = picture;
  const pixel = (window.to - window.from) / pixels;
  const offset = store.state.server.traces[strip.trace]?.offset_ns ?? 0;
  const first = pixelOf(window.from, pixel, offset);
  const edge = (column: number): number => Math.round(xOf((first + column) * pixel + offset, width));
  const rows = columnsOfLevels(picture, strip, (ts) => pixelOf(ts, pixel, offset) - first);
  const most = rows.reduce((known, { counts }) => counts.reduce((one, other) => Math.max(one, other), known), 0);
  const height = (strip.height - 8) / LEVEL_ROWS;
  for (const { rank, color, counts } of rows) {
    context.fillStyle = color;
    const top = strip.top + 2 + (LEVEL_ROWS - 1 - rank) * height;
    counts.forEach((count, column) => {
      if (count === 0) return;
      const [left, right] = [edge(column), edge(column + 1)];
      if (right < 0 || left > width) return;
      context.globalAlpha = Math.max(rank > 1 ? 0.45 : 0.2, Math.sqrt(count / most));
      context.fillRect(left, top, Math.max(right - left, rank > 1 ? 2 : 1), height - 1);
    });
  }
  context.globalAlpha = 1;
  // Lines that match the filter of the log are marked below.
  context.fillStyle = palette().text;
  for (const [, ts] of picture.hits.get(strip.number) ?? []) {
    const x = Math.round(xOf(ts, width));
    if (x >= -2 && x <= width) context.fillRect(x - 1, strip.top + strip.height - 4, 3, 4);
  }
}

/** The number of lines per level and pixel of the picture; dense levels are smoothed. */
function columnsOfLevels(picture: Picture, strip: Strip, columnOf: (ts: number) => number): LevelRow[] {
  const levels = new Map<number, number[]>();
  for (const [, ts, level, count] of picture.logs.get(strip.number) ?? []) {
    const counts = levels.get(level) ?? new Array<number>(picture.pixels + 1).fill(0);
    levels.set(level, counts);
    const column = columnOf(ts);
    if (column >= 0 && column < counts.length) counts[column] = (counts[column] ?? 0) + count;
  }
  return [...levels].map(([level, counts]) => {
    const name = store.state.names.text(level);
    const rank = levelRank(name);
    return { rank, color: levelColor(name), counts: rank > 1 ? counts : smoothed(counts) };
  });
}

interface LevelRow {
  rank: number;
  color: string;
  counts: number[];
}

export function drawLinks(scene: Scene, picture: Picture): void {
  const { context, width, scroll, height } = scene;
  if (picture.extras.links.length === 0) return;
  const rows = new Map<number, Strip>();
  for (const strip of scene.strips) if (strip.kind === "spans") rows.set(strip.number, strip);
  const colors = palette();
  context.lineWidth = 1.2;
  const { span } = store.state.selection;
  for (const [fromTrack, fromDepth, fromTs, toTrack, toDepth, toTs] of picture.extras.links) {
    const [from, to] = [rows.get(fromTrack), rows.get(toTrack)];
    if (!from || !to) continue;
    const y = (strip: Strip, depth: number): number => strip.top + Math.min(depth * ROW, strip.height - ROW) + ROW / 2;
    const [x0, y0, x1, y1] = [xOf(fromTs, width), y(from, fromDepth), xOf(toTs, width), y(to, toDepth)];
    if (Math.max(y0, y1) < scroll || Math.min(y0, y1) > scroll + height) continue;
    const isOwn =
      span &&
      ((span.track === fromTrack && span.depth === fromDepth && isIn(span, fromTs)) ||
        (span.track === toTrack && span.depth === toDepth && isIn(span, toTs)));
    context.strokeStyle = isOwn ? colors.text : colors.accent;
    context.globalAlpha = span && !isOwn ? 0.35 : 0.9;
    const bend = Math.min(80, Math.max(16, Math.abs(x1 - x0) / 3));
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    context.moveTo(x1 - 6, y1 - 3.5);
    context.lineTo(x1, y1);
    context.lineTo(x1 - 6, y1 + 3.5);
    context.stroke();
  }
  context.globalAlpha = 1;
}

function isIn(span: { ts_ns: number; dur_ns: number | null }, ts: number): boolean {
  return span.ts_ns <= ts && (span.dur_ns === null || ts <= span.ts_ns + span.dur_ns);
}
