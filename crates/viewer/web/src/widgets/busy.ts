// Long queries.

import { element } from "./dom";

/** Queries of which only the last one matters; older ones are canceled. */
export class Latest {
  private last: AbortController | null = null;

  /** The answer; undefined if another query was sent after it. */
  async ask<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.last?.abort();
    const own = new AbortController();
    this.last = own;
    try {
      const answer = await work(own.signal);
      return this.last === own ? answer : undefined;
    } catch (error) {
      if (this.last !== own || own.signal.aborted) return undefined;
      throw error;
    }
  }
}

/** A progress message, shown only if the query takes long enough to be noticed. */
export class BusyMark {
  readonly host = element("div", { class: "busy" });
  private running = 0;

  async during<T>(work: Promise<T>): Promise<T> {
    this.running += 1;
    const shown = window.setTimeout(() => this.host.classList.toggle("on", this.running > 0), 150);
    try {
      return await work;
    } finally {
      this.running -= 1;
      clearTimeout(shown);
      if (this.running === 0) this.host.classList.remove("on");
    }
  }
}
