// Rows of a long list that come in blocks, as far as they are there.

/** Rows that are asked for at once. */
export const BLOCK = 200;
/** Blocks that are kept. */
const MAX_BLOCKS = 60;

export class Blocks<T> {
  private readonly there = new Map<number, readonly T[]>();
  private readonly asked = new Set<number>();

  /** A row, if it is there. */
  row(at: number): T | undefined {
    return this.there.get(Math.floor(at / BLOCK))?.[at % BLOCK];
  }

  /** The blocks that have to be asked for, so that these rows are there; each is named once. */
  missing(from: number, to: number): number[] {
    const missing: number[] = [];
    for (let block = Math.floor(from / BLOCK); block * BLOCK < to; block++) {
      if (this.there.has(block) || this.asked.has(block)) continue;
      this.asked.add(block);
      missing.push(block);
    }
    return missing;
  }

  /** Keeps a block; the oldest one goes if there are too many. */
  put(block: number, rows: readonly T[]): void {
    this.asked.delete(block);
    this.there.set(block, rows);
    const [oldest] = this.there.keys();
    if (this.there.size > MAX_BLOCKS && oldest !== undefined) this.there.delete(oldest);
  }

  /** A block did not come: it may be asked for again. */
  failed(block: number): void {
    this.asked.delete(block);
  }
}
