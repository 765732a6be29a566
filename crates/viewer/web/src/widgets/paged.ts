// A list of any length whose rows are on the server; visible rows are requested.

import { BLOCK, Blocks } from "./blocks";
import { element } from "./dom";
import { Lines, type LinesOptions } from "./lines";

/** Some rows, and the number of all rows. */
export interface Page<T> {
  total: number;
  rows: readonly T[];
}

export interface PagedOptions<T> extends Pick<LinesOptions, "label" | "height" | "roles"> {
  ask(skip: number, take: number): Promise<Page<T>>;
  /** Creates the element of a row. */
  row(row: T, at: number): HTMLElement;
  /** Called with the number of all rows. */
  counted(total: number): void;
  failed(error: unknown): void;
  choose?(row: T, at: number): void;
  open?(row: T): void;
}

export class Paged<T> {
  readonly lines: Lines;
  private blocks = new Blocks<T>();
  /** Incremented with each query, so that late answers are dropped. */
  private turn = 0;

  constructor(private readonly options: PagedOptions<T>) {
    this.lines = new Lines({
      ...options,
      line: (at) => {
        const row = this.blocks.row(at);
        return row === undefined ? element("div") : options.row(row, at);
      },
      seen: (from, to) => this.want(from, to),
      choose: (at) => this.with(at, (row) => options.choose?.(row, at)),
      open: (at) => this.with(at, (row) => options.open?.(row)),
    });
  }

  /** Starts a new query: requests the number of rows, and the rows around one of them. */
  async restart(at = 0): Promise<void> {
    const turn = ++this.turn;
    const block = Math.floor(Math.max(0, at) / BLOCK);
    try {
      const { total, rows } = await this.options.ask(block * BLOCK, BLOCK);
      if (turn !== this.turn) return;
      this.blocks = new Blocks();
      this.blocks.put(block, rows);
      this.options.counted(total);
      this.lines.setCount(total);
      this.lines.mark(-1);
      if (at > 0 && at < total) this.lines.reveal(at, true);
      else this.lines.begin(0);
    } catch (error) {
      if (turn === this.turn) this.options.failed(error);
    }
  }

  private with(at: number, work: (row: T) => void): void {
    const row = this.blocks.row(at);
    if (row !== undefined) work(row);
  }

  private want(from: number, to: number): void {
    for (const block of this.blocks.missing(from, to)) void this.load(block);
  }

  private async load(block: number): Promise<void> {
    const { turn, blocks } = this;
    try {
      const { rows } = await this.options.ask(block * BLOCK, BLOCK);
      if (turn !== this.turn) return;
      blocks.put(block, rows);
      this.lines.refresh();
    } catch (error) {
      blocks.failed(block);
      if (turn === this.turn) this.options.failed(error);
    }
  }
}
