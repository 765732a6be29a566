// A flame graph as a picture file that any program can show and scale.

import { escaped } from "../../widgets/svg";
import type { Box, Boxes } from "./tree";

const [WIDTH, ROW, LETTER] = [1200, 18, 6.2];

/** How a box looks. */
export interface Look {
  fill: string;
  text: string;
  label: string;
  /** Shown when the pointer is on it. */
  title: string;
}

/** The whole graph as SVG. */
export function svgOf({ list, rows }: Boxes, look: (box: Box) => Look): string {
  const boxes = list.map((box) => boxOf(box, look(box)));
  const size = `width="${WIDTH}" height="${rows.length * ROW}" viewBox="0 0 ${WIDTH} ${rows.length * ROW}"`;
  const style = `font-family="system-ui, sans-serif" font-size="11"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${style}>\n${boxes.join("\n")}\n</svg>\n`;
}

function boxOf({ row, from, to }: Box, { fill, text, label, title }: Look): string {
  const [x, wide, y] = [from * WIDTH, Math.max((to - from) * WIDTH - 1, 0.5), row * ROW];
  const letters = Math.floor((wide - 8) / LETTER);
  const shown = label.length <= letters ? label : letters > 2 ? `${label.slice(0, letters - 1)}…` : "";
  const name = shown === "" ? "" : `<text x="${x + 4}" y="${y + 12.5}" fill="${text}">${escaped(shown)}</text>`;
  const shape = `<rect x="${x.toFixed(2)}" y="${y}" width="${wide.toFixed(2)}" height="${ROW - 1}" fill="${fill}"/>`;
  return `<g><title>${escaped(title)}</title>${shape}${name}</g>`;
}
