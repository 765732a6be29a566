// An answer in SQL as bars with labels, or as a line.

import { count, moment } from "../../format";
import { numberIn, shownAs, type Answer, type Chart, type Row } from "../../queried/answer";
import { element, note } from "../../widgets/dom";
import { drawn } from "../../widgets/svg";

/** More bars than these are a table. */
const MAX_BARS = 200;
/** A line has a point per pixel of a wide screen. */
const [WIDTH, HEIGHT] = [1000, 240];

export function chart(answer: Answer, made: Chart, value: number, choose: (row: Row) => void): HTMLElement {
  return made.kind === "bars" ? bars(answer, made.label, value, choose) : line(answer, made.along, value);
}

/** The share of the greatest amount that a value is, of those that go the same way. */
export function partOf(value: number, values: readonly number[]): number {
  const most = values.reduce((known, one) => Math.max(known, Number.isFinite(one) ? Math.abs(one) : 0), 0);
  return most > 0 && Number.isFinite(value) ? Math.abs(value) / most : 0;
}

function bars({ columns, rows }: Answer, label: number, value: number, choose: (row: Row) => void): HTMLElement {
  const column = columns[value]?.[0] ?? "";
  const shown = rows.slice(0, MAX_BARS);
  const values = shown.map((row) => numberIn(row, value));
  const list = element("ul", { class: "plain bars", "aria-label": `${column} by ${columns[label]?.[0] ?? ""}` });
  shown.forEach((row, at) => {
    const amount = values[at] ?? NaN;
    const name = element("button", { type: "button", class: "link", title: row[label] ?? "" }, row[label] ?? "NULL");
    name.addEventListener("click", () => choose(row));
    const bar = element("i", { "aria-hidden": "true" });
    bar.style.width = `${100 * partOf(amount, values)}%`;
    bar.classList.toggle("below", amount < 0);
    const text = Number.isFinite(amount) ? shownAs(column, amount) : "NULL";
    list.append(element("li", {}, name, element("span", {}, bar), element("span", { class: "number" }, text)));
  });
  const more = rows.length - shown.length;
  return element("div", {}, list, ...(more > 0 ? [note(`${count(more)} more rows are in the table.`)] : []));
}

/** The points of a line in a box, by their x values; missing values are left out. */
export function points(pairs: readonly (readonly [number, number])[], width: number, height: number): string {
  const known = pairs
    .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))
    .sort(([one], [other]) => one - other);
  const [xs, ys] = [extremes(known.map(([x]) => x)), extremes([0, ...known.map(([, y]) => y)])];
  const at = (value: number, [least, most]: readonly [number, number]): number =>
    most > least ? (value - least) / (most - least) : 0;
  return known.map(([x, y]) => `${(width * at(x, xs)).toFixed(1)},${(height * (1 - at(y, ys))).toFixed(1)}`).join(" ");
}

function extremes(values: readonly number[]): readonly [number, number] {
  return [
    values.reduce((one, other) => Math.min(one, other), Infinity),
    values.reduce((one, other) => Math.max(one, other), -Infinity),
  ];
}

function line({ columns, rows }: Answer, along: number, value: number): HTMLElement {
  const [column, base] = [columns[value]?.[0] ?? "", columns[along]?.[0] ?? ""];
  const pairs = rows.map((row) => [numberIn(row, along), numberIn(row, value)] as const);
  const known = pairs.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  if (known.length === 0) return note("No row has both numbers.");
  const [[from, to], [least, most]] = [extremes(known.map(([x]) => x)), extremes([0, ...known.map(([, y]) => y)])];
  const place = (x: number): string => (base.endsWith("_ns") ? moment(x) : shownAs(base, x));
  const about = `${column} over ${base}: ${count(known.length)} values from ${shownAs(column, least)} to ${shownAs(column, most)}`;
  const host = element("figure", { class: "line", role: "img", "aria-label": about });
  const picture = drawn("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  picture.append(drawn("polyline", { points: points(pairs, WIDTH, HEIGHT) }));
  host.append(picture);
  const axis = (from: string, title: string, to: string): HTMLElement =>
    element("figcaption", {}, element("span", {}, from), element("b", {}, title), element("span", {}, to));
  host.prepend(axis(shownAs(column, most), column, ""));
  host.append(axis(place(from), `${base}, from ${shownAs(column, least)} up`, place(to)));
  return host;
}
