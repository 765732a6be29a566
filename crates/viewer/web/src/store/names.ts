// Names by number, as assigned by the server.

import type { NameRow } from "../wire";

/** A handle to the names: a new one after each change, but all share the same lists, which may be long. */
export class Names {
  private constructor(
    private readonly texts: string[],
    private readonly given: (number | null)[],
    private readonly numbers: Map<string, number>,
  ) {}

  static none(): Names {
    return new Names([], [], new Map());
  }

  get count(): number {
    return this.texts.length;
  }

  /** The name with this number; empty if there is none. */
  text(number: number): string {
    return this.texts[number] ?? "";
  }

  /** The color set by the producer, as 0xAARRGGBB. */
  color(number: number): number | null {
    return this.given[number] ?? null;
  }

  /** The number of a name. */
  number(text: string): number | undefined {
    return this.numbers.get(text);
  }

  /** A new handle with these names added from a number on. */
  with(from: number, rows: NameRow[]): Names {
    rows.forEach(([text, color], at) => {
      this.texts[from + at] = text;
      this.given[from + at] = color;
      this.numbers.set(text, from + at);
    });
    return new Names(this.texts, this.given, this.numbers);
  }
}
