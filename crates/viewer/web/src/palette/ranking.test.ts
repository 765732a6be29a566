import { expect, it } from "vitest";
import { ranked, type Command } from "./ranking";

const commands: Command[] = [
  ["panel", "Statistics"],
  ["panel", "Memory"],
  ["thread", "io 17"],
  ["name", "Update physics"],
  ["name", "updateStatistics"],
  ["action", "show everything"],
].map(([kind = "", title = ""]) => ({ kind, title, run: () => undefined }));

const found = (text: string, most = 9): string[] => ranked(commands, text, most).map(({ title }) => title);

it("finds all words in any order, titles that start with them first", () => {
  expect(found("stat")).toEqual(["Statistics", "updateStatistics"]);
  expect(found("phys upd")).toEqual(["Update physics"]);
  expect(found("17")).toEqual(["io 17"]);
  expect(found("nothing")).toEqual([]);
});

it("finds a kind, and keeps the order without a text", () => {
  expect(found("panel")).toEqual(["Statistics", "Memory"]);
  expect(found("", 2)).toEqual(["Statistics", "Memory"]);
});
