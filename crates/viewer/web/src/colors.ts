// Colors, as pure functions of names.

export interface Palette {
  back: string;
  row: string;
  line: string;
  text: string;
  dim: string;
  accent: string;
  warn: string;
  bad: string;
}

export const dark: Palette = {
  back: "#15181d",
  row: "#1b1f26",
  line: "#2b313b",
  text: "#e6e9ee",
  dim: "#8b95a5",
  accent: "#6cb6ff",
  warn: "#e3b341",
  bad: "#ff7b72",
};

export const light: Palette = {
  back: "#ffffff",
  row: "#f5f7fa",
  line: "#d8dee6",
  text: "#1c2430",
  dim: "#667284",
  accent: "#0b62c4",
  warn: "#9a6700",
  bad: "#c4231c",
};

export type Rgb = [red: number, green: number, blue: number];

/** A color, in the forms that drawing needs. */
export interface Tone {
  css: string;
  /** The color of text that can be read on it. */
  text: string;
  /** As a pixel: 0xAABBGGRR. */
  pixel: number;
}

/** The colors of a bar: normal, next to a selection, and next to search results. */
export interface Paint extends Tone {
  soft: Tone;
  faint: Tone;
}

export function painted(rgb: Rgb, isDark: boolean): Paint {
  const back = isDark ? 24 : 255;
  const mixed = (share: number): Rgb => rgb.map((part) => Math.round(part * share + back * (1 - share))) as Rgb;
  const faint = { ...toneOf(mixed(0.28)), text: isDark ? "#8b95a5" : "#667284" };
  return { ...toneOf(rgb), soft: toneOf(mixed(0.7)), faint };
}

function toneOf(rgb: Rgb): Tone {
  const brightness = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
  return { css: `rgb(${rgb.join()})`, text: brightness > 140 ? "#14171c" : "#fff", pixel: pixelOf(rgb) };
}

/** A color as a pixel of an image, opaque. */
export function pixelOf([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** The producer's color. */
export function producers(argb: number): Rgb {
  return [(argb >>> 16) & 255, (argb >>> 8) & 255, argb & 255];
}

/** A color that is derived from a text and never changes. */
export function stable(text: string, isDark: boolean): Rgb {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  const lightness = isDark ? 44 + ((hash >>> 9) % 10) : 70 + ((hash >>> 9) % 10);
  return fromHsl((hash >>> 0) % 360, 0.45, lightness / 100);
}

export function fromHsl(hue: number, saturation: number, lightness: number): Rgb {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const part = (shift: number): number => {
    const at = (shift + hue / 30) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
  };
  return [part(0), part(8), part(4)];
}

/** The color of a change from -1 (less, blue) to 1 (more, red), which color-blind people can distinguish. */
export function ofChange(change: number, isDark: boolean): Rgb {
  const same: Rgb = isDark ? [74, 82, 94] : [222, 226, 232];
  const end: Rgb = change > 0 ? (isDark ? [214, 69, 65] : [224, 72, 66]) : isDark ? [56, 128, 220] : [66, 140, 230];
  // Small changes are visible as well.
  const share = Math.sqrt(Math.abs(change));
  return same.map((part, at) => Math.round(part + ((end[at] ?? part) - part) * share)) as Rgb;
}
