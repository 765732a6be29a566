// Requests that wait for the worker.

/** Requests that are answered from memory, so that a picture does not wait for a table. */
const QUICK = new Set([
  "state",
  "names",
  "picture",
  "extras",
  "minimap",
  "place",
  "next",
  "search",
  "around",
  "switch",
]);

export class Queue<T extends { path: string; isOver(): boolean }> {
  private readonly waiting: T[] = [];

  add(one: T): void {
    this.waiting.push(one);
  }

  /** The next request that still has a waiter: the first fast one, or else the first one. */
  take(): T | undefined {
    for (let at = this.waiting.length - 1; at >= 0; at--) {
      if (this.waiting[at]?.isOver()) this.waiting.splice(at, 1);
    }
    const quick = this.waiting.findIndex(({ path }) => QUICK.has(path));
    return this.waiting.splice(Math.max(0, quick), 1)[0];
  }
}
