import { expect, it } from "vitest";
import { svgOf } from "./svg";
import { layout } from "./tree";

it("has each box with its name, whatever is in it", () => {
  const names = ["<b>&\u0001"];
  const boxes = layout({
    callers: [],
    before: [],
    names,
    frames: [
      [0, null, 10, 0, 1, 0],
      [0, 0, 5, 5, 1, 0],
    ],
  });
  const look = (box: { name: string | null }): ReturnType<Parameters<typeof svgOf>[1]> => ({
    fill: "rgb(1,2,3)",
    text: "#fff",
    label: box.name ?? "everything",
    title: "10 ms",
  });
  const svg = svgOf(boxes, look);
  expect(svg.match(/<rect /g)).toHaveLength(2);
  expect(svg).toContain('viewBox="0 0 1200 36"');
  expect(svg).toContain(">&lt;b&gt;&amp;</text>");
  expect(svg).toContain('width="599.00"');
});
