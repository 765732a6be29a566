// Draws SQL results: spans and points in rows, or values over time.

import { painted, stable } from "../colors";
import { moment } from "../format";
import { numberIn, shownAs, type Mark, type Track } from "../queried/answer";
import { store } from "../store";
import { titled } from "../widgets/describe";
import { drawValues } from "./charts";
import { CHART, ROW, type Strip } from "./layout";
import { xOf, type Scene } from "./scale";

/** The height of a track. */
export function heightOf(track: Track): number {
  return track.values ? CHART : ROW * track.depth;
}

export function drawQueried(scene: Scene, strip: Strip): void {
  const track = store.state.queried[strip.number];
  if (!track) return;
  if (track.values) {
    const { column, points } = track.values;
    const numbers = points.map(([, value]) => value);
    const [min, max] = [numbers.reduce(least, Infinity), numbers.reduce(greatest, -Infinity)];
    const samples = points.map(([ts, value]): [number, number, number, number] => [ts, value, value, value]);
    drawValues(scene, strip, { samples, min, max, show: (value) => shownAs(column, value) });
  } else drawMarks(scene, strip, track.marks);
}

const least = (one: number, other: number): number => Math.min(one, other);
const greatest = (one: number, other: number): number => Math.max(one, other);

function drawMarks(scene: Scene, strip: Strip, marks: readonly Mark[]): void {
  const { context, width } = scene;
  /** The end of the drawn part of each row; marks in the same pixel are not drawn again. */
  const drawn: number[] = [];
  for (const mark of marks) {
    const [left, right] = [xOf(mark.ts, width), xOf(mark.ts + mark.dur, width)];
    if (right < 0 || left > width || right <= (drawn[mark.depth] ?? -1)) continue;
    const top = strip.top + mark.depth * ROW;
    const [x, wide] = [Math.max(left, -2), Math.max(2, Math.min(right, width + 2) - Math.max(left, -2))];
    const { css, text } = painted(stable(mark.label, store.state.isDark), store.state.isDark);
    context.fillStyle = css;
    context.fillRect(x, top + 1, wide, ROW - 2);
    drawn[mark.depth] = x + wide;
    const most = Math.floor((wide - 6) / 6);
    if (most < 3) continue;
    context.fillStyle = text;
    const label = mark.label.length <= most ? mark.label : `${mark.label.slice(0, most - 1)}…`;
    context.fillText(label, Math.max(x, 0) + 4, top + ROW / 2 + 0.5);
  }
}

/** The row of a result under the pointer. */
export function markAt(strip: Strip, ns: number, y: number, reach: number): Mark | null {
  const depth = Math.floor((y - strip.top) / ROW);
  const own = store.state.queried[strip.number]?.marks.filter((mark) => mark.depth === depth) ?? [];
  return own.filter((mark) => mark.ts - reach <= ns && ns <= mark.ts + mark.dur + reach).pop() ?? null;
}

/** All cells of a row, for the card next to the pointer. */
export function describeMark(track: Track, { label, ts, row }: Mark): HTMLElement[] {
  const cells = track.answer.columns.slice(0, 12).map(([name, isNumber], at): [string, string] => {
    const value = numberIn(row, at);
    const isTime = isNumber && name.endsWith("_ns") && Number.isFinite(value);
    return [name, isTime ? shownAs(name, value) : (row[at] ?? "").slice(0, 200)];
  });
  return titled(label || "SQL", [["at", moment(ts)], ...cells.filter(([name]) => !/^(ts|start|time)_ns$/.test(name))]);
}
