// Saves the timeline as an image.

import { store } from "../store";
import { palette } from "../theme";
import { saveFile } from "../widgets/dom";
import { draw, FONT } from "./draw";
import { between, RULER } from "./layout";
import { pictureName } from "./names";
import type { Scene } from "./scale";

/** Pixels of the image per pixel of the page, for sharp prints. */
const RATIO = 2;

/** Saves the visible part, with the names on the left. */
export function savePicture(scene: Scene): void {
  const { gutter } = scene;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((scene.width + gutter) * RATIO);
  canvas.height = Math.round(scene.height * RATIO);
  const context = canvas.getContext("2d");
  if (!context) return;
  const colors = palette();
  context.setTransform(RATIO, 0, 0, RATIO, gutter * RATIO, 0);
  draw({ ...scene, context, cursor: null, hover: null });
  context.setTransform(RATIO, 0, 0, RATIO, 0, 0);
  context.fillStyle = colors.back;
  context.fillRect(0, 0, gutter, scene.height);
  context.textBaseline = "middle";
  for (const strip of between(scene.strips, scene.scroll, scene.scroll + scene.height)) {
    const isHead = strip.kind === "head" || strip.kind === "group";
    const top = strip.top - scene.scroll;
    if (isHead) {
      context.fillStyle = strip.kind === "group" ? colors.line : colors.row;
      context.fillRect(0, top, gutter, strip.height);
    }
    context.font = isHead ? `600 ${FONT}` : FONT;
    context.fillStyle = isHead ? colors.text : colors.dim;
    context.fillText(strip.label, isHead ? 10 : 22, top + Math.min(strip.height, 24) / 2, gutter - 28);
  }
  context.fillStyle = colors.row;
  context.fillRect(0, 0, gutter, RULER);
  canvas.toBlob((blob) => {
    if (blob) saveFile(pictureName(store.state), [blob], "image/png");
  });
}
