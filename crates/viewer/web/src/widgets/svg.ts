// What pictures as SVG have in common.

/** Text that XML takes for text; control characters, which it has no place for, are left out. */
export function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  const letters = Array.from(text).filter((letter) => letter >= " ");
  return letters.map((letter) => entities[letter] ?? letter).join("");
}
