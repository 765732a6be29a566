// From times to pixels and back, and what everything that draws shares.

import { store, type Range } from "../store";
import type { Strip } from "./layout";
import type { LaneBars, Picture } from "./picture";

/** A bar. */
export interface Bar {
  lane: LaneBars;
  bar: number;
}

/** Everything that is drawn. */
export interface Scene {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  /** How wide the names on the left are. */
  gutter: number;
  scroll: number;
  contentHeight: number;
  strips: Strip[];
  picture: Picture | null;
  hover: Bar | null;
  /** Where the pointer is. */
  cursor: { x: number; y: number } | null;
  /** A box that is being drawn: a range of time, and of the page if tracks are selected. */
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

/** Where the left edge of a picture is now, and how wide one of its pixels. */
export function placed(picture: Picture, width: number): { offset: number; scale: number } {
  const offset = xOf(picture.window.from, width);
  return { offset, scale: (xOf(picture.window.to, width) - offset) / picture.pixels };
}
