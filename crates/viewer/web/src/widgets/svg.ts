// What pictures as SVG have in common.

/** Text that XML takes for text; control characters, which it has no place for, are left out. */
export function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  const letters = Array.from(text).filter((letter) => letter >= " ");
  return letters.map((letter) => entities[letter] ?? letter).join("");
}

/** An element of SVG with attributes. */
export function drawn(tag: string, attributes: Record<string, string>): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
