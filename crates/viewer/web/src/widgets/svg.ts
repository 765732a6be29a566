// Helpers for SVG images.

/** Text escaped for XML, without control characters, which XML cannot hold. */
export function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  const letters = Array.from(text).filter((letter) => letter >= " ");
  return letters.map((letter) => entities[letter] ?? letter).join("");
}

/** An SVG element with attributes. */
export function drawn(tag: string, attributes: Record<string, string>): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
