import { describe, expect, it } from "vitest";
import { fromHsl, painted, pixelOf, producers, stable } from "./colors";

describe("colors", () => {
  it("of a producer are 0xAARRGGBB, those of a pixel 0xAABBGGRR", () => {
    expect(producers(0xff112233)).toEqual([0x11, 0x22, 0x33]);
    expect(pixelOf([0x11, 0x22, 0x33])).toBe(0xff332211);
  });

  it("of a text never change, and differ between texts and themes", () => {
    expect(stable("update", true)).toEqual(stable("update", true));
    expect(stable("update", true)).not.toEqual(stable("render", true));
    expect(stable("update", true)).not.toEqual(stable("update", false));
  });

  it("from hue, saturation and lightness", () => {
    expect([fromHsl(0, 1, 0.5), fromHsl(120, 1, 0.5), fromHsl(0, 0, 1)]).toEqual([
      [255, 0, 0],
      [0, 255, 0],
      [255, 255, 255],
    ]);
  });
});

describe("painted", () => {
  it("has text that can be read", () => {
    expect(painted([250, 250, 210], false).text).toBe("#14171c");
    expect(painted([20, 30, 90], false).text).toBe("#fff");
  });

  it("is faint near the background", () => {
    expect(painted([0, 0, 0], false).faint.css).toBe("rgb(184,184,184)");
    expect(painted([255, 255, 255], true).faint.css).toBe("rgb(89,89,89)");
  });
});
