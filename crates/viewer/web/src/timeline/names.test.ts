import { expect, it } from "vitest";
import { page, trace } from "../testing/page";
import { pictureName } from "./names";

it("names the file and the range", () => {
  const state = page({ traces: [trace({ path: "/x/my game.prof" })] }, { view: { from: 0, to: 1.5e9 } });
  expect(pictureName(state)).toBe("my_game.prof-0ns-1.5s.png");
});
