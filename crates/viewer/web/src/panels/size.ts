// The height of the panels, which is changed by dragging the divider or with keys.

import { store } from "../store";
import { byId } from "../widgets/dom";

export function sizePanels(height: number): void {
  store.set({ panelHeight: Math.round(Math.min(Math.max(height, 60), innerHeight - 220)) });
}

/** Applies the height of the panels from now on. */
export function followSize(): void {
  const [divider, panels] = [byId("divider"), byId("panels")];
  store.subscribe(
    ({ panelHeight }) => panelHeight,
    (height) => {
      if (height === null) return;
      // A link may come from a larger window.
      sizePanels(height);
      panels.style.height = `${store.state.panelHeight}px`;
      divider.setAttribute("aria-valuenow", String(Math.round((100 * (store.state.panelHeight ?? 0)) / innerHeight)));
    },
  );
  divider.addEventListener("pointerdown", (down) => {
    divider.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent): void => sizePanels(innerHeight - event.clientY);
    divider.addEventListener("pointermove", move);
    divider.addEventListener("pointerup", () => divider.removeEventListener("pointermove", move), { once: true });
  });
  divider.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 20, ArrowDown: -20 }[event.key];
    if (by === undefined) return;
    event.stopPropagation();
    sizePanels(panels.getBoundingClientRect().height + by);
  });
}
