// What `cargo xtask page` puts next to the page, and a trace that may be inside it.

/** The router: a script for a worker, and WebAssembly as gzip in base64. */
export interface Engine {
  script: string;
  wasm: string;
}

declare global {
  var traceloomEngine: Engine | undefined;
}

/** Unpacks gzip in base64; as a blob, which the browser need not keep in memory. */
export function unpacked(text: string): Promise<Blob> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}

/** Traces that came with the page, and what is to be said about them. */
export async function embedded(): Promise<{ files: File[]; notice: string }> {
  const scripts = [...document.querySelectorAll<HTMLElement>("script.trace")];
  const files = scripts.map(async (script) => {
    const blob = await unpacked(script.textContent);
    script.remove();
    return new File([blob], script.dataset["name"] ?? "trace");
  });
  return { files: await Promise.all(files), notice: scripts[0]?.dataset["notice"] ?? "" };
}
