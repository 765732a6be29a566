import { expect, it } from "vitest";
import { linkFrom } from "./kept";

it("takes a link as it is", () => {
  const link = { trace: 1, file: 2, line: 3, path: "a.pm", level: "block", sub: "main::x", list: "subs" };
  expect(linkFrom(link)).toEqual(link);
});

it.each([undefined, null, 7, [], { trace: "1", file: {}, line: null, path: 5, level: "word", list: "x" }])(
  "takes nothing of %j",
  (value) => expect(linkFrom(value)).toEqual({ list: "files" }),
);
