// Shared by everything that is drawn.

/** Resizes a canvas to its element on any screen; null if it cannot be drawn on. */
export function prepare(
  canvas: HTMLCanvasElement,
): { context: CanvasRenderingContext2D; width: number; height: number } | null {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  if (!context || width < 20 || height < 20) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "11px system-ui, sans-serif";
  return { context, width, height };
}

/** A function that redraws an element on the next frame, if it is on the page. */
export function onNextFrame(host: HTMLElement, draw: () => void): () => void {
  let frame = 0;
  return () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      if (host.isConnected) draw();
    });
  };
}

/** Reports the numbered item under the pointer (-1: none), and the one that is clicked. */
export function followPointer(
  canvas: HTMLCanvasElement,
  at: (event: MouseEvent) => number,
  hover: (number: number) => void,
  pick: (number: number) => void,
): void {
  canvas.addEventListener("pointermove", (event) => hover(at(event)));
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("click", (event) => pick(at(event)));
}
