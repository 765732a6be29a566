// Memory in use over time as an SVG file.

import type { Palette } from "../../colors";
import { bytes, moment } from "../../format";
import { escaped } from "../../widgets/svg";
import type { MemoryAnswer } from "../../wire";

const [WIDTH, HEIGHT, TOP, BOTTOM] = [1200, 300, 24, 20];

type Report = Pick<MemoryAnswer, "curve" | "first_ns" | "is_growth_only" | "last_ns" | "peak">;

/** The curve with its peak and its times. */
export function svgOf({ curve, first_ns, is_growth_only, last_ns, peak }: Report, colors: Palette): string {
  const last = Math.max(last_ns, first_ns + 1);
  const highest = Math.max(1, ...curve.map(([, , most]) => most));
  const x = (ts: number): string => (((ts - first_ns) / (last - first_ns)) * WIDTH).toFixed(1);
  const y = (value: number): string => (HEIGHT - BOTTOM - (value / highest) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  // Memory does not change between two points.
  const area = (column: 1 | 2, opacity: number): string => {
    const steps = curve.map((point, number) => {
      const until = curve[number + 1]?.[0] ?? last;
      return `L${x(point[0])},${y(point[column])} L${x(until)},${y(point[column])}`;
    });
    return `<path d="M0,${y(0)} ${steps.join(" ")} L${WIDTH},${y(0)} Z" fill="${colors.accent}" fill-opacity="${opacity}"/>`;
  };
  const text = (at: string, line: number, anchor: string, words: string, color: string): string =>
    `<text x="${at}" y="${line}" text-anchor="${anchor}" fill="${color}">${escaped(words)}</text>`;
  const parts = [
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${colors.back}"/>`,
    area(2, 0.3),
    area(1, 0.6),
    text("4", HEIGHT - 6, "start", moment(first_ns, (last - first_ns) / 100), colors.text),
    text(String(WIDTH - 4), HEIGHT - 6, "end", moment(last, (last - first_ns) / 100), colors.text),
  ];
  if (!is_growth_only) {
    const at = x(peak.ts_ns);
    const line = `<path d="M${at},${TOP} V${HEIGHT - BOTTOM}" stroke="${colors.bad}" stroke-dasharray="3 3"/>`;
    const anchor = Number(at) < WIDTH / 2 ? "start" : "end";
    parts.push(line, text(at, TOP - 6, anchor, `peak ${bytes(peak.bytes)}`, colors.bad));
  }
  const size = `width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  const style = `font-family="system-ui, sans-serif" font-size="12"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${style}>\n${parts.join("\n")}\n</svg>\n`;
}
