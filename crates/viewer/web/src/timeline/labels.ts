// The names of tracks on the left, with their actions.

import { duration } from "../format";
import { arrange, closeTrace, look, store } from "../store";
import { flipped, openTraces } from "../store/state";
import { dropTrack } from "../queried/tracks";
import { byId, element } from "../widgets/dom";
import { between, HEAD, type Strip } from "./layout";
import { traceLabel } from "./names";
import { askOffset } from "./offset";
import { movedTo, shifted } from "./order";

/** Labels of the visible strips. */
export class Labels {
  private readonly host = byId("labels");
  private strips: Strip[] = [];
  private readonly shown = new Map<string, HTMLElement>();
  private dropAt: HTMLElement | null = null;
  /** The last track that was searched for. */
  private found = -1;

  constructor(private readonly reveal: (top: number, height: number) => void) {
    // The timeline scrolls to a focused label; the browser would scroll only the labels.
    this.host.addEventListener("scroll", () => (this.host.scrollTop = 0));
    this.host.addEventListener("focusin", (event) => this.follow(event.target as HTMLElement));
  }

  /** Recreates all labels for new strips, and keeps the focus. */
  renew(strips: Strip[], scroll: number, height: number): void {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["what"] : undefined;
    this.strips = strips;
    this.shown.clear();
    this.host.replaceChildren();
    this.place(scroll, height);
    if (focused) this.host.querySelector<HTMLElement>(`[data-what="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Places labels next to their strips; only visible ones exist. */
  place(scroll: number, height: number): void {
    const seen = new Set<string>();
    for (const strip of between(this.strips, scroll - 200, scroll + height + 200)) {
      if (strip.label === "") continue;
      const key = `${strip.kind} ${strip.number} ${strip.top}`;
      seen.add(key);
      let label = this.shown.get(key);
      if (!label) {
        label = this.make(strip);
        this.shown.set(key, label);
        this.host.append(label);
      }
      label.style.transform = `translateY(${strip.top - scroll}px)`;
    }
    for (const [key, label] of this.shown) {
      if (seen.has(key)) continue;
      label.remove();
      this.shown.delete(key);
    }
  }

  /** Marks only the name of this track, and gives it the focus. */
  focus(track: number): void {
    this.host.querySelector(".found")?.classList.remove("found");
    this.found = track;
    this.host.querySelector(`[data-what="track ${track}"]`)?.closest(".label")?.classList.add("found");
    this.host.querySelector<HTMLElement>(`[data-what="track ${track}"]`)?.focus({ preventScroll: true });
  }

  private follow(target: HTMLElement): void {
    this.host.scrollTop = 0;
    const [what, number] = target.dataset["what"]?.split(" ") ?? [];
    const isGroup = ["group", "offset", "close", "zoom"].includes(what ?? "");
    const strip = this.strips.find((one) =>
      isGroup ? one.group === number : one.kind === "head" && one.number === Number(number),
    );
    if (strip) this.reveal(strip.top, strip.height);
  }

  /** Moves the focus to the heading above or below. */
  private step(strip: Strip, by: number): void {
    let at = this.strips.indexOf(strip) + by;
    while (this.strips[at] && this.strips[at]?.kind !== "head" && this.strips[at]?.kind !== "group") at += by;
    const next = this.strips[at];
    if (!next) return;
    this.reveal(next.top, next.height);
    const what = next.kind === "group" ? `group ${next.group}` : `track ${next.number}`;
    this.host.querySelector<HTMLElement>(`[data-what="${CSS.escape(what)}"]`)?.focus({ preventScroll: true });
  }

  private make(strip: Strip): HTMLElement {
    const row = element("div", { class: `label ${strip.kind}`, style: `height: ${strip.height}px` });
    if (strip.kind === "group") this.fillGroup(row, strip);
    else if (strip.kind === "head") this.fillHead(row, strip);
    else if (strip.kind === "queried") fillQueried(row, strip);
    else row.append(element("span", { title: strip.label }, strip.label));
    return row;
  }

  private fillGroup(row: HTMLElement, strip: Strip): void {
    const group = strip.group ?? "";
    const { groups } = store.state.tracks;
    const fold = (): void => arrange({ groups: flipped(groups, group) });
    const name = folder(strip.label, groups.has(group), `group ${group}`, fold);
    name.addEventListener("keydown", (event) => this.key(event, strip));
    name.addEventListener("dblclick", () => this.zoomTo(strip.trace));
    row.append(name);
    const file = traceLabel(store.state, strip.trace);
    row.append(button("⤢", `Zoom to ${file} (double click)`, `zoom ${group}`, () => this.zoomTo(strip.trace)));
    if (openTraces(store.state).length < 2) return;
    const offset = store.state.server.traces[strip.trace]?.offset_ns ?? 0;
    const text = offset === 0 ? "± 0" : `${offset > 0 ? "+" : "−"} ${duration(Math.abs(offset))}`;
    const about = `${text}: move this trace on the axis, or alt + drag its heading`;
    const change = button(text, about, `offset ${group}`, () => askOffset(strip.trace));
    const close = button("×", `× Close ${file}`, `close ${group}`, () => void closeTrace(strip.trace));
    for (const made of [change, close]) made.classList.add("stays");
    row.append(change, close);
  }

  /** Shows all of a trace. */
  private zoomTo(trace: number): void {
    const info = store.state.server.traces[trace];
    if (info) look(info.from_ns + info.offset_ns, info.to_ns + info.offset_ns);
  }

  private fillHead(row: HTMLElement, strip: Strip): void {
    const { number: track, label } = strip;
    row.classList.toggle("found", track === this.found);
    const { folded, pinned, hidden } = store.state.tracks;
    const fold = (): void => arrange({ folded: flipped(folded, track) });
    const name = folder(label, folded.has(track), `track ${track}`, fold);
    name.addEventListener("keydown", (event) => this.key(event, strip));
    name.addEventListener("pointerdown", (event) => this.drag(event, row, track));
    const isPinned = pinned.has(track);
    const flipPin = (): void => arrange({ pinned: flipped(pinned, track) });
    const pin = button(isPinned ? "★" : "☆", isPinned ? "Unpin" : "Pin to the top", `pin ${track}`, flipPin);
    pin.classList.toggle("stays", isPinned);
    row.append(
      name,
      pin,
      button("↑", "↑ Move up (alt + ↑)", `up ${track}`, () => shift(track, -1)),
      button("↓", "↓ Move down (alt + ↓)", `down ${track}`, () => shift(track, 1)),
      button("×", "× Hide; H shows all again", `hide ${track}`, () => arrange({ hidden: flipped(hidden, track) })),
    );
  }

  /** Arrow keys move between headings; with alt, they move the track. */
  private key(event: KeyboardEvent, strip: Strip): void {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.altKey) this.step(strip, by);
    else if (strip.kind === "head") shift(strip.number, by);
  }

  /** Dragging a name moves its track. */
  private drag(down: PointerEvent, row: HTMLElement, track: number): void {
    if (down.button !== 0) return;
    const name = down.currentTarget as HTMLElement;
    let isDragging = false;
    name.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent): void => {
      if (!isDragging && Math.abs(event.clientY - down.clientY) < 5) return;
      isDragging = true;
      row.classList.add("dragged");
      this.dropAt?.classList.remove("drop");
      this.dropAt = this.headAt(event.clientX, event.clientY);
      this.dropAt?.classList.add("drop");
    };
    const up = (): void => {
      name.removeEventListener("pointermove", move);
      row.classList.remove("dragged");
      const target = this.dropAt?.querySelector<HTMLElement>("[data-what]")?.dataset["what"]?.split(" ")[1];
      this.dropAt?.classList.remove("drop");
      this.dropAt = null;
      if (!isDragging) return;
      // The click that ends a drag must not fold.
      name.addEventListener("click", (event) => event.stopImmediatePropagation(), { capture: true, once: true });
      setTimeout(() => target !== undefined && moveBefore(track, Number(target)));
    };
    name.addEventListener("pointermove", move);
    name.addEventListener("pointerup", up, { once: true });
    name.addEventListener("pointercancel", up, { once: true });
  }

  private headAt(x: number, y: number): HTMLElement | null {
    const labels = [...this.shown.values()].filter((label) => label.classList.contains("head"));
    const near = labels.find((label) => {
      const box = label.getBoundingClientRect();
      return x >= box.left - 50 && Math.abs(y - (box.top + HEAD / 2)) < HEAD;
    });
    return near ?? null;
  }
}

/** Max number of letters of a name. */
const LETTERS = 24;

/** A long name without its middle, because paths differ at their ends. */
export function middle(text: string): string {
  if (text.length <= LETTERS) return text;
  return `${text.slice(0, LETTERS / 3)}…${text.slice(1 - (2 * LETTERS) / 3)}`;
}

/** A name that folds the strips below it. */
function folder(label: string, isFolded: boolean, what: string, fold: () => void): HTMLElement {
  const name = element(
    "span",
    { role: "button", tabindex: "0", title: label, "aria-expanded": String(!isFolded), "data-what": what },
    element("i", { class: isFolded ? "fold closed" : "fold", "aria-hidden": "true" }, "▾"),
    middle(label),
  );
  name.addEventListener("click", fold);
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    fold();
  });
  return name;
}

function button(text: string, title: string, what: string, work: () => void): HTMLButtonElement {
  const made = element("button", { title, "aria-label": title, "data-what": what }, text);
  made.addEventListener("click", work);
  return made;
}

/** The query of a result, and a button to close it. */
function fillQueried(row: HTMLElement, strip: Strip): void {
  const sql = store.state.queried[strip.number]?.sql ?? "";
  const close = button("×", "× Remove this track", `queried ${strip.number}`, () => dropTrack(sql));
  close.classList.add("stays");
  row.append(element("span", { title: sql }, strip.label), close);
}

/** Moves a track past its neighbor of the same trace and process. */
function shift(track: number, by: number): void {
  const order = shifted(store.state, track, by);
  if (order) arrange({ order });
}

function moveBefore(track: number, target: number): void {
  arrange({ order: movedTo(store.state, track, target) });
}
