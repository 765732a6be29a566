import { describe, expect, it } from "vitest";
import { store } from "../store";
import { page, trace } from "../testing/page";
import type { TextLabel } from "../wire";
import type { Strip } from "./layout";
import type { Picture } from "./picture";
import { textAt } from "./texts";

const labels: TextLabel[] = [
  [10, "loading", 1, 0],
  [50, "ready", 2, 1],
];
const picture = { texts: new Map([[3, labels]]) } as unknown as Picture;
const strip = { kind: "text", number: 3, trace: 0 } as Strip;

describe("textAt", () => {
  it("is the last text that started, until the trace ends", () => {
    store.set(page({ traces: [trace({ to_ns: 90, offset_ns: 10 })] }));
    expect([9, 10, 49, 50, 100].map((ns) => textAt(picture, strip, ns)?.[1])).toEqual([
      undefined,
      "loading",
      "loading",
      "ready",
      "ready",
    ]);
    expect(textAt(picture, strip, 101)).toBeNull();
  });

  it("is nothing on a strip without texts", () => expect(textAt(picture, { ...strip, number: 4 }, 60)).toBeNull());
});
