// Rows of a long list, loaded in blocks.

/** Rows per request. */
export const BLOCK = 200;
/** Max number of blocks in memory. */
const MAX_BLOCKS = 60;

export class Blocks<T> {
  private readonly there = new Map<number, readonly T[]>();
  private readonly asked = new Set<number>();

  /** A row, if it is loaded. */
  row(at: number): T | undefined {
    return this.there.get(Math.floor(at / BLOCK))?.[at % BLOCK];
  }

  /** The blocks to request for these rows; each is returned once. */
  missing(from: number, to: number): number[] {
    const missing: number[] = [];
    for (let block = Math.floor(from / BLOCK); block * BLOCK < to; block++) {
      if (this.there.has(block) || this.asked.has(block)) continue;
      this.asked.add(block);
      missing.push(block);
    }
    return missing;
  }

  /** Keeps a block; the oldest one is dropped if there are too many. */
  put(block: number, rows: readonly T[]): void {
    this.asked.delete(block);
    this.there.set(block, rows);
    const [oldest] = this.there.keys();
    if (this.there.size > MAX_BLOCKS && oldest !== undefined) this.there.delete(oldest);
  }

  /** Loading a block failed; it may be requested again. */
  failed(block: number): void {
    this.asked.delete(block);
  }
}
