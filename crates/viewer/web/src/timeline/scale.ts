// Conversion between times and pixels, and the data shared by all drawing code.

import { store, type Range } from "../store";
import type { Strip } from "./layout";
import type { LaneBars, Picture } from "./picture";

/** A bar. */
export interface Bar {
  lane: LaneBars;
  bar: number;
}

/** The data to draw. */
export interface Scene {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  /** Width of the names on the left. */
  gutter: number;
  scroll: number;
  contentHeight: number;
  strips: Strip[];
  picture: Picture | null;
  hover: Bar | null;
  /** Position of the pointer. */
  cursor: { x: number; y: number } | null;
  /** A selection box that is being dragged: a time range, and a vertical range if tracks are selected. */
  box: { from: number; to: number; top: number | null; bottom: number } | null;
}

/** From a time to a pixel. */
export function xOf(ns: number, width: number, view: Range = store.state.view): number {
  return ((ns - view.from) / (view.to - view.from)) * width;
}

/** From a pixel to a time. */
export function nsOf(x: number, width: number, view: Range = store.state.view): number {
  return view.from + (x / width) * (view.to - view.from);
}

/** The current position of the left edge of a picture, and the current width of one of its pixels. */
export function placed(picture: Picture, width: number): { offset: number; scale: number } {
  const offset = xOf(picture.window.from, width);
  return { offset, scale: (xOf(picture.window.to, width) - offset) / picture.pixels };
}
