// The timeline as a picture file.

import { saveFile } from "../widgets/dom";
import { palette } from "../theme";
import { FONT } from "./draw";
import { between, RULER } from "./layout";
import type { Scene } from "./scale";

/** Saves what is seen, with the names on the left. */
export function savePicture(scene: Scene, picture: HTMLCanvasElement): void {
  const { gutter } = scene;
  const ratio = picture.width / scene.width;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((scene.width + gutter) * ratio);
  canvas.height = picture.height;
  const context = canvas.getContext("2d");
  if (!context) return;
  const colors = palette();
  context.scale(ratio, ratio);
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
  context.drawImage(picture, gutter, 0, scene.width, scene.height);
  canvas.toBlob((blob) => {
    if (blob) saveFile("traceloom.png", [blob], "image/png");
  });
}
