import { describe, expect, it } from "vitest";
import { around, grouped, offsets } from "./text";

const text = "select name\nfrom spanz, 😀😀 where";

describe("a place in a query", () => {
  it("is where the server means", () => {
    const [from, to] = offsets(text, [2, 6, 11]);
    expect(text.slice(from, to)).toBe("spanz");
    expect(around(text, [2, 6, 11])).toEqual(["from ", "spanz", ", 😀😀 where"]);
  });

  it("is counted in letters, however long they are", () => {
    const [from, to] = offsets(text, [2, 16, 21]);
    expect(text.slice(from, to)).toBe("where");
  });

  it("is at least one letter", () => {
    const [from, to] = offsets(text, [1, 1, 1]);
    expect(text.slice(from, to)).toBe("s");
  });

  it("may be behind the text", () => {
    expect(around(text, [9, 1, 2])).toBeNull();
    expect(around(text, [1, 12, 13])).toEqual(["select name", "", ""]);
  });
});

describe("grouped", () => {
  it.each([
    ["1234", "1234"],
    ["1234567", "1,234,567"],
    ["-12345", "-12,345"],
    ["12345.678", "12345.678"],
    ["NULL", "NULL"],
  ])("%s", (text, expected) => expect(grouped(text)).toBe(expected));
});
