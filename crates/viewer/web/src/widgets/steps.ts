// Keys that walk through a list.

/** How many lines a key goes down, or up if it is negative; `page` is how many lines are seen. */
export function stepOf(key: string, page: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -Infinity,
    End: Infinity,
  };
  return steps[key];
}
