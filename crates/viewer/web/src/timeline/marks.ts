// Draws what has no length: events, log lines, arrows.

import { store } from "../store";
import { faintness } from "../store/state";
import { levelColor, levelRank, paint, palette } from "../theme";
import type { LogMark } from "../wire";
import { ROW, type Strip } from "./layout";
import type { Picture } from "./picture";
import { xOf, type Scene } from "./scale";

function colorOf(name: number, category: string): string {
  const colors = palette();
  if (category === "bookmark") return colors.warn;
  if (category === "gc") return colors.bad;
  return category === "mark" || category === "marker" ? colors.accent : paint(name).css;
}

/** A flag for what a person set, a triangle for a mark, a diamond for the rest. */
function shape(context: CanvasRenderingContext2D, category: string, x: number, top: number): void {
  context.beginPath();
  if (category === "bookmark") {
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

export function drawEvents(scene: Scene, picture: Picture, strip: Strip): void {
  const { context, width } = scene;
  const own = picture.events.get(strip.number) ?? [];
  const { names } = store.state;
  const isFaint = faintness(store.state);
  own.forEach(([, ts, name, categoryName, shared], at) => {
    const x = xOf(ts, width);
    if (x < -200 || x > width + 8) return;
    const category = names.text(categoryName);
    context.globalAlpha = isFaint?.(name) ? 0.3 : 1;
    context.fillStyle = colorOf(name, category);
    const next = own[at + 1]?.[1];
    const away = (next === undefined ? width : xOf(next, width)) - x;
    // Where events are close together a line for each tells as much as a shape, and costs less.
    if (away < 7 && category !== "bookmark") context.fillRect(Math.round(x) - 1, strip.top + 4, 2, 10);
    else shape(context, category, x, strip.top);
    const room = away - 16;
    if (room > 24) {
      const text = names.text(name).slice(0, 200) + (shared > 1 ? ` +${shared - 1}` : "");
      context.fillStyle = palette().text;
      const fits = text.slice(0, Math.floor(room / 6));
      context.fillText(
        fits === text || fits.length < 3 ? fits : `${fits.slice(0, -1)}…`,
        x + 10,
        strip.top + ROW / 2 + 0.5,
      );
    }
    context.globalAlpha = 1;
  });
}

/** Ticks as high as there are lines, the worst level in front and never too short to be seen. */
export function drawLogs(scene: Scene, picture: Picture, strip: Strip): void {
  const { context, width } = scene;
  const levels = new Map<number, LogMark[]>();
  let most = 1;
  for (const mark of picture.logs.get(strip.number) ?? []) {
    const known = levels.get(mark[2]);
    if (known) known.push(mark);
    else levels.set(mark[2], [mark]);
    most = Math.max(most, mark[3]);
  }
  const ranked = [...levels].map(([level, marks]) => ({
    rank: levelRank(store.state.names.text(level)),
    color: levelColor(store.state.names.text(level)),
    marks,
  }));
  ranked.sort((one, other) => one.rank - other.rank);
  const room = strip.height - 5;
  for (const { rank, color, marks } of ranked) {
    context.fillStyle = color;
    context.globalAlpha = [0.3, 0.45, 0.9, 1][rank] ?? 1;
    for (const [, ts, , count] of marks) {
      const x = xOf(ts, width);
      if (x < -2 || x > width + 2) continue;
      const height = room * Math.max([0.2, 0.25, 0.4, 0.6][rank] ?? 0.2, 0.95 * Math.sqrt(count / most));
      context.fillRect(x - 0.5, strip.top + strip.height - 2 - height, rank > 1 ? 2 : 1, height);
    }
  }
  context.globalAlpha = 1;
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
