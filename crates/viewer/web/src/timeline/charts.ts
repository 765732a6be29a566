// Draws values over time.

import { bytes, figure } from "../format";
import type { Sample } from "../api";
import { store } from "../store";
import { palette } from "../theme";
import type { Strip } from "./layout";
import type { Picture } from "./picture";
import { nsOf, xOf, type Scene } from "./scale";

interface Chart {
  samples: Sample[];
  min: number;
  max: number;
  show(value: number): string;
}

/** The chart of a strip. */
function chartOf(picture: Picture, strip: Strip): Chart {
  if (strip.kind === "memory") {
    const peak = store.state.traces[strip.number]?.memory ?? 1;
    return { samples: picture.memory.get(strip.number) ?? [], min: 0, max: peak, show: bytes };
  }
  const counter = store.state.counters[strip.number];
  const samples = picture.counters.get(strip.number) ?? [];
  return { samples, min: counter?.min ?? 0, max: counter?.max ?? 1, show: figure };
}

/** When the trace of a strip ends: no value holds any longer. */
function endOf(strip: Strip): number {
  const trace = store.state.traces[strip.trace];
  return trace ? trace.to_ns + trace.offset_ns : Infinity;
}

/** The sample that holds at a time. */
function sampleAt(samples: Sample[], ns: number): Sample | null {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((samples[middle] as Sample)[0] <= ns) low = middle + 1;
    else high = middle;
  }
  return samples[low - 1] ?? null;
}

/** What a chart says at a time: its value, and how it changes within a pixel. */
export function valueAt(picture: Picture, strip: Strip, ns: number): [what: string, value: string][] {
  const { samples, min, max, show } = chartOf(picture, strip);
  const sample = ns <= endOf(strip) ? sampleAt(samples, ns) : null;
  const rows: [string, string][] = [["value", sample ? show(sample[3]) : "none"]];
  if (sample && sample[1] !== sample[2]) rows.push(["in this pixel", `${show(sample[1])} to ${show(sample[2])}`]);
  rows.push(["in the trace", `${show(min)} to ${show(max)}`]);
  return rows;
}

export function drawChart(scene: Scene, picture: Picture, strip: Strip): void {
  const { context, width } = scene;
  const { samples, min, max, show } = chartOf(picture, strip);
  const colors = palette();
  const end = Math.min(xOf(endOf(strip), width), width + 2);
  // A chart begins at 0 unless its values are all far from it.
  const isFar = min > 0 && min > max * 0.5 && strip.kind !== "memory";
  const lowest = isFar ? min - (max - min) * 0.1 : Math.min(0, min);
  const range = Math.max(max - lowest, Number.MIN_VALUE);
  const [top, height] = [strip.top + 4, strip.height - 7];
  const y = (value: number): number => top + height * (1 - (value - lowest) / range);
  const base = y(Math.max(lowest, Math.min(0, max)));
  context.fillStyle = colors.line;
  context.fillRect(0, base, width, 1);
  const line = new Path2D();
  const area = new Path2D();
  const band = new Path2D();
  samples.forEach(([ts, low, high, last], at) => {
    const next = samples[at + 1]?.[0];
    const left = Math.max(xOf(ts, width), -2);
    const right = Math.min(next === undefined ? end : xOf(next, width), width + 2);
    if (right < 0 || left > width) return;
    const level = y(last);
    area.rect(left, Math.min(level, base), right - left, Math.abs(base - level));
    if (high > low) band.rect(left, y(high), Math.max(right - left, 1), Math.max(y(low) - y(high), 1));
    if (at === 0) line.moveTo(left, level);
    else line.lineTo(left, level);
    line.lineTo(right, level);
  });
  context.fillStyle = `color-mix(in srgb, ${colors.accent} 20%, transparent)`;
  context.fill(area);
  context.fillStyle = `color-mix(in srgb, ${colors.accent} 45%, transparent)`;
  context.fill(band);
  context.strokeStyle = colors.accent;
  context.lineWidth = 1.2;
  context.stroke(line);
  scaleText(scene, strip, show(max), strip.top + 9);
  if (height > 40) scaleText(scene, strip, show(isFar ? min : lowest), strip.top + strip.height - 9);
  drawCursor(scene, strip, samples, y, show);
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

/** The value at the pointer, wherever it is above or below. */
function drawCursor(scene: Scene, strip: Strip, samples: Sample[], y: (value: number) => number, show: Chart["show"]): void {
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
