// Keys for moving through a list.

/** The number of lines that a key moves down, or up if negative; `page` is the number of visible lines. */
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
