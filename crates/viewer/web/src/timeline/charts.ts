// Draws values over time.

import { bytes, figure } from "../format";
import { store } from "../store";
import { palette } from "../theme";
import { type Sample } from "../wire";
import type { Strip } from "./layout";
import type { Picture } from "./picture";
import { columnsOf, sampleAt, type Columns } from "./samples";
import { nsOf, xOf, type Scene } from "./scale";

export interface Chart {
  samples: Sample[];
  min: number;
  max: number;
  show: (value: number) => string;
}

/** The chart of a strip. */
function chartOf(picture: Picture, strip: Strip): Chart {
  if (strip.kind === "memory") {
    const peak = store.state.server.traces[strip.number]?.memory ?? 1;
    return { samples: picture.memory.get(strip.number) ?? [], min: 0, max: peak, show: bytes };
  }
  const counter = store.state.server.counters[strip.number];
  const samples = picture.counters.get(strip.number) ?? [];
  return { samples, min: counter?.min ?? 0, max: counter?.max ?? 1, show: figure };
}

/** The end of the trace of a strip, at which all values end. */
export function endOf(strip: Strip): number {
  const trace = store.state.server.traces[strip.trace];
  return trace ? trace.to_ns + trace.offset_ns : Infinity;
}

/** The value of a chart at a time, and its extremes within a pixel. */
export function valueAt(picture: Picture, strip: Strip, ns: number): [what: string, value: string][] {
  const { samples, min, max, show } = chartOf(picture, strip);
  const sample = ns <= endOf(strip) ? sampleAt(samples, ns) : null;
  const rows: [string, string][] = [["value", sample ? show(sample[3]) : "none"]];
  if (sample && sample[1] !== sample[2]) rows.push(["in this pixel", `${show(sample[1])} to ${show(sample[2])}`]);
  rows.push(["in the trace", `${show(min)} to ${show(max)}`]);
  return rows;
}

export function drawChart(scene: Scene, picture: Picture, strip: Strip): void {
  drawValues(scene, strip, chartOf(picture, strip));
}

export function drawValues(scene: Scene, strip: Strip, { samples, min, max, show }: Chart): void {
  const { context, width } = scene;
  const colors = palette();
  const end = Math.min(xOf(endOf(strip), width), width + 2);
  // A chart starts at 0 unless all its values are far from 0.
  const isFar = min > 0 && min > max * 0.5 && strip.kind !== "memory";
  const lowest = isFar ? min - (max - min) * 0.1 : Math.min(0, min);
  const range = Math.max(max - lowest, Number.MIN_VALUE);
  const [top, height] = [strip.top + 4, strip.height - 7];
  const y = (value: number): number => top + height * (1 - (value - lowest) / range);
  const base = y(Math.max(lowest, Math.min(0, max)));
  context.fillStyle = colors.line;
  context.fillRect(0, base, width, 1);
  drawColumns(context, columnsOf(samples, width), Math.min(end, width), base, y);
  scaleText(scene, strip, show(max), strip.top + 9);
  if (height > 40) scaleText(scene, strip, show(isFar ? min : lowest), strip.top + strip.height - 9);
  drawCursor(scene, strip, samples, y, show);
}

/** Rectangles of whole pixels, which are cheapest: below the value, and between the extremes. */
function drawColumns(
  context: CanvasRenderingContext2D,
  { last, low, high }: Columns,
  end: number,
  base: number,
  y: (value: number) => number,
): void {
  const { accent } = palette();
  const count = Math.min(last.length, Math.ceil(end));
  const each = (draw: (x: number, wide: number) => void): void => {
    for (let x = 0; x < count;) {
      let next = x + 1;
      while (next < count && last[next] === last[x] && low[next] === low[x] && high[next] === high[x]) next++;
      if (!Number.isNaN(last[x])) draw(x, next - x);
      x = next;
    }
  };
  context.fillStyle = `color-mix(in srgb, ${accent} 22%, transparent)`;
  each((x, wide) => {
    const level = y(last[x] as number);
    context.fillRect(x, Math.min(level, base), wide, Math.abs(base - level));
  });
  context.fillStyle = accent;
  each((x, wide) => {
    const [top, bottom] = [y(high[x] as number), y(low[x] as number)];
    context.fillRect(x, top - 0.5, wide, Math.max(1.2, bottom - top + 0.5));
  });
}

function scaleText(scene: Scene, strip: Strip, text: string, y: number): void {
  const { context, width } = scene;
  if (strip.height < 30) return;
  const room = context.measureText(text).width;
  context.fillStyle = palette().back;
  context.globalAlpha = 0.7;
  context.fillRect(width - room - 16, y - 7, room + 6, 14);
  context.globalAlpha = 1;
  context.fillStyle = palette().dim;
  context.fillText(text, width - room - 13, y);
}

/** The value at the time of the pointer. */
function drawCursor(
  scene: Scene,
  strip: Strip,
  samples: Sample[],
  y: (value: number) => number,
  show: Chart["show"],
): void {
  const { context, cursor, width } = scene;
  if (!cursor) return;
  const ns = nsOf(cursor.x, width);
  const sample = sampleAt(samples, ns);
  if (!sample || ns > endOf(strip)) return;
  const colors = palette();
  const level = y(sample[3]);
  context.fillStyle = colors.accent;
  context.beginPath();
  context.arc(cursor.x, level, 3, 0, 7);
  context.fill();
  const text = show(sample[3]);
  const room = context.measureText(text).width;
  const x = cursor.x + room + 16 > width ? cursor.x - room - 10 : cursor.x + 8;
  const middle = Math.min(Math.max(level, strip.top + 9), strip.top + strip.height - 9);
  context.fillStyle = colors.back;
  context.globalAlpha = 0.85;
  context.fillRect(x - 3, middle - 8, room + 6, 16);
  context.globalAlpha = 1;
  context.fillStyle = colors.text;
  context.fillText(text, x, middle);
}
