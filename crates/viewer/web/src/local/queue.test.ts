import { describe, expect, it } from "vitest";
import { Queue } from "./queue";

const one = (path: string, isOver = false): { path: string; isOver(): boolean } => ({ path, isOver: () => isOver });

describe("Queue", () => {
  it("lets pictures go before tables, and keeps the order otherwise", () => {
    const queue = new Queue();
    for (const path of ["stats", "picture", "flame", "extras"]) queue.add(one(path));
    const taken = [0, 1, 2, 3, 4].map(() => queue.take()?.path);
    expect(taken).toEqual(["picture", "extras", "stats", "flame", undefined]);
  });

  it("forgets requests that nobody waits for", () => {
    const queue = new Queue();
    queue.add(one("picture", true));
    queue.add(one("stats"));
    queue.add(one("picture", true));
    expect(queue.take()?.path).toBe("stats");
    expect(queue.take()).toBeUndefined();
  });
});
