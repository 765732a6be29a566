// The two traces that are compared.

import { linkOf, store } from ".";
import { readyTraces } from "./state";

export type Sides = [before: number, after: number];

/** The two traces to compare: from the link, or the first two; null if there are fewer than two. */
export function comparedTraces(): Sides | null {
  const ready = readyTraces(store.state);
  const isReady = (number: unknown): number is number => ready.some((one) => one === number);
  const { before, after } = linkOf("changes") ?? {};
  if (isReady(before) && isReady(after)) return [before, after];
  const [first, second] = ready;
  return first === undefined || second === undefined ? null : [first, second];
}
