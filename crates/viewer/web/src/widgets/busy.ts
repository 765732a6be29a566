// Long queries.

import { element, failure } from "./dom";

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

/** The query of a panel: sent when its key changes, and again after a failure. */
export class Question {
  private readonly busy = new BusyMark();
  private readonly latest = new Latest();
  private key = "";

  /** The progress message. */
  get host(): HTMLElement {
    return this.busy.host;
  }

  /** Whether this key differs from the last one, which it replaces. */
  isNew(key: string): boolean {
    const isNew = key !== this.key;
    this.key = key;
    return isNew;
  }

  /** Passes the answer to `fill`, or an error message to `fail`. */
  async ask<T>(
    work: (signal: AbortSignal) => Promise<T>,
    fill: (answer: T) => void,
    fail: (message: HTMLElement) => void,
  ): Promise<void> {
    try {
      const answer = await this.busy.during(this.latest.ask(work));
      if (answer !== undefined) fill(answer);
    } catch (error) {
      this.key = "";
      fail(failure(error));
    }
  }
}
