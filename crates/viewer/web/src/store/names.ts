// Names by number, as the server counts them.

import type { NameRow } from "../wire";

/** A handle on the names: another one after each change, but all share the same lists, which may be long. */
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

  /** The text of a number; empty if there is none. */
  text(number: number): string {
    return this.texts[number] ?? "";
  }

  /** The color that the producer wants, as 0xAARRGGBB. */
  color(number: number): number | null {
    return this.given[number] ?? null;
  }

  /** The number of a text. */
  number(text: string): number | undefined {
    return this.numbers.get(text);
  }

  /** The same with these rows from a number on. */
  with(from: number, rows: NameRow[]): Names {
    rows.forEach(([text, color], at) => {
      this.texts[from + at] = text;
      this.given[from + at] = color;
      this.numbers.set(text, from + at);
    });
    return new Names(this.texts, this.given, this.numbers);
  }
}
