import { describe, expect, it } from "vitest";

import { followed } from "./follow";

describe("followed", () => {
  it("shows everything while there is little", () => {
    expect(followed({ from: 5, to: 50 }, 100)).toEqual({ from: 5, to: 50 });
  });

  it("slides with the end and keeps its width", () => {
    expect(followed({ from: 0, to: 500 }, 100)).toEqual({ from: 400, to: 500 });
    expect(followed({ from: 0, to: 510 }, 100)).toEqual({ from: 410, to: 510 });
  });
});
