// The files that `cargo xtask page` adds to the page, and embedded traces.

/** The router: a script for a worker, and WebAssembly as gzip in base64. */
export interface Engine {
  script: string;
  wasm: string;
}

declare global {
  var traceloomEngine: Engine | undefined;
}

/** Decompresses gzip in base64 to a blob, which the browser need not keep in memory. */
export function unpacked(text: string): Promise<Blob> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}

/** Embedded traces, and a notice about them. */
export async function embedded(): Promise<{ files: File[]; notice: string }> {
  const scripts = [...document.querySelectorAll<HTMLElement>("script.trace")];
  const files = scripts.map(async (script) => {
    const blob = await unpacked(script.textContent);
    script.remove();
    return new File([blob], script.dataset["name"] ?? "trace");
  });
  return { files: await Promise.all(files), notice: scripts[0]?.dataset["notice"] ?? "" };
}
