import { afterEach, describe, expect, it, vi } from "vitest";
import { address, ask, meant, reasonIn, send, shown } from "./api";

afterEach(() => vi.unstubAllGlobals());

describe("address", () => {
  it("leaves out what is not given, and writes texts as they are", () => {
    expect(address("log", { text: "a b&c", at: undefined, regex: false, site: null })).toBe(
      "api/log?text=a+b%26c&regex=false",
    );
  });

  it("writes large times with all of their digits", () => {
    expect(address("next", { ts: 2 ** 60, least: 0.5 })).toBe("api/next?ts=1152921504606846976&least=0.5");
    expect(address("next", { ts: -0 })).toBe("api/next?ts=0");
  });
});

describe("reasonIn", () => {
  it.each([
    ['{"error":"unknown track"}', "unknown track"],
    ['{"error":5}', ""],
    ["plain words", "plain words"],
    ["", ""],
  ])("%s", (text, expected) => expect(reasonIn(text)).toBe(expected));
});

describe("ask", () => {
  const answer = (status: number, body: string): void => {
    vi.stubGlobal("location", { search: "?token=abc" });
    vi.stubGlobal(
      "fetch",
      vi.fn(() => Promise.resolve(new Response(body, { status }))),
    );
  };

  it("shows its token and gives the answer", async () => {
    answer(200, '{"spans":3}');
    await expect(ask("totals", { from: 1 })).resolves.toEqual({ spans: 3 });
    expect(fetch).toHaveBeenCalledWith("api/totals?from=1", { headers: { "x-traceloom-token": "abc" } });
  });

  it("says which trace of a store the page shows", async () => {
    answer(200, "{}");
    vi.stubGlobal("location", { search: "?token=abc&store=1&trace=7" });
    await ask("totals", {});
    const headers = { "x-traceloom-token": "abc", "x-traceloom-trace": "7" };
    expect(fetch).toHaveBeenCalledWith("api/totals?", { headers });
  });

  it("fails with the words of the server, or with its status", async () => {
    answer(404, '{"error":"unknown name"}');
    await expect(ask("search", { q: "" })).rejects.toThrow("unknown name");
    answer(500, "");
    await expect(send("offset", { trace: 0, offset_ns: 5 })).rejects.toThrow("the server answered 500");
  });
});

describe("characters that change the direction of text", () => {
  const [name, seen] = ["a\u202eb\u2066", "a\\u202eb\\u2066"];

  it("are seen as escapes, wherever the server sends them", () => {
    expect(JSON.parse(shown(JSON.stringify({ name })))).toEqual({ name: seen });
    expect(shown('"größe 😀"')).toBe('"größe 😀"');
  });

  it("are sent back as they were", () => {
    expect(address("search", { q: seen })).toBe(address("search", { q: name }));
    expect(JSON.parse(meant(JSON.stringify({ name: seen }), "\\\\u"))).toEqual({ name });
  });

  it("leave other escapes alone", () => expect(meant("\\u0041", "\\u")).toBe("\\u0041"));
});
