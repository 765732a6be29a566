// Draws values that are texts, each until the next one.

import { palette } from "../theme";
import type { TextLabel } from "../wire";
import { endOf } from "./charts";
import type { Strip } from "./layout";
import type { Picture } from "./picture";
import { xOf, type Scene } from "./scale";

/** Minimum width for readable letters. */
const LETTER = 6;

export function drawTexts(scene: Scene, picture: Picture, strip: Strip): void {
  const { context, width } = scene;
  const colors = palette();
  const labels = picture.texts.get(strip.number) ?? [];
  const last = Math.min(xOf(endOf(strip), width), width + 2);
  const [top, height] = [strip.top + 2, strip.height - 4];
  labels.forEach(([ts, text, shared], at) => {
    const x = xOf(ts, width);
    const next = labels[at + 1];
    const end = next ? Math.min(xOf(next[0], width), width + 2) : last;
    if (end < 0 || x > width) return;
    const left = Math.max(x, -2);
    context.fillStyle = `color-mix(in srgb, ${colors.accent} 14%, ${colors.back})`;
    context.fillRect(left, top, Math.max(1, end - left - 1), height);
    context.fillStyle = colors.accent;
    context.fillRect(x - 0.5, top, shared > 1 ? 2 : 1.5, height);
    // A text that started before the window is drawn at its edge.
    const begin = Math.max(x + 5, 4);
    const told = text === "" ? '""' : text;
    const shown = fitted(shared > 1 ? `${told} +${shared - 1}` : told, end - begin - 4);
    if (shown === "") return;
    context.fillStyle = colors.text;
    context.fillText(shown, begin, strip.top + strip.height / 2 + 0.5);
  });
}

function fitted(text: string, room: number): string {
  const most = Math.floor(room / LETTER);
  const line = text.replace(/\s+/g, " ");
  if (line.length <= most) return line;
  return most < 3 ? "" : `${line.slice(0, most - 1)}…`;
}

/** The text at a time. */
export function textAt(picture: Picture, strip: Strip, ns: number): TextLabel | null {
  if (ns > endOf(strip)) return null;
  let found: TextLabel | null = null;
  for (const label of picture.texts.get(strip.number) ?? []) {
    if (label[0] > ns) break;
    found = label;
  }
  return found;
}
