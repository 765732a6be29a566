import { describe, expect, it, vi } from "vitest";
import { keyFinder, type Key, type Pressed } from "./keys";

const keys: Key[] = [
  { keys: ["w", "+"], what: "zoom in", run: vi.fn() },
  { keys: ["f", "Enter"], what: "zoom to the selection", run: vi.fn() },
];
const find = keyFinder(keys);

function pressed(key: string, change: Partial<Pressed> = {}): Pressed {
  return { key, ctrlKey: false, metaKey: false, altKey: false, defaultPrevented: false, ...change };
}

describe("keyFinder", () => {
  it("knows each of the keys of an action", () => {
    expect(find(pressed("w"), "other")).toBe(keys[0]);
    expect(find(pressed("+"), "other")).toBe(keys[0]);
    expect(find(pressed("x"), "other")).toBeUndefined();
  });

  it("leaves letters to fields", () => expect(find(pressed("w"), "field")).toBeUndefined());

  it("leaves Enter, and nothing else, to buttons", () => {
    expect(find(pressed("Enter"), "button")).toBeUndefined();
    expect(find(pressed("f"), "button")).toBe(keys[1]);
    expect(find(pressed("Enter"), "other")).toBe(keys[1]);
  });

  it.each(["ctrlKey", "metaKey", "altKey", "defaultPrevented"] as const)("leaves %s to others", (taken) => {
    expect(find(pressed("w", { [taken]: true }), "other")).toBeUndefined();
  });
});
