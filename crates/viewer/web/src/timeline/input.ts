// Mouse, pen and touch on the timeline.

import { look, select, setOffset, store, viewWidth, type Range } from "../store";
import { byId } from "../widgets/dom";
import { thumb, SCROLLBAR } from "./draw";
import { between, RULER } from "./layout";
import { nsOf } from "./scale";
import type { Timeline } from "./timeline";

/** A drag, until the pointer is lifted. */
interface Gesture {
  move(event: PointerEvent): void;
  end?(event: PointerEvent, hasMoved: boolean): void;
}

/** Whether dragging selects instead of moving. */
export function toggleBoxMode(): void {
  store.set({ isBoxMode: !store.state.isBoxMode });
}

export class Input {
  private readonly fingers = new Map<number, { x: number; y: number }>();

  constructor(
    private readonly timeline: Timeline,
    private readonly canvas: HTMLCanvasElement,
    labels: HTMLElement,
  ) {
    store.subscribe(
      ({ isBoxMode }) => isBoxMode,
      (isOn) => {
        byId("timeline").classList.toggle("box", isOn);
        byId("box").setAttribute("aria-pressed", String(isOn));
      },
    );
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    labels.addEventListener("wheel", (event) => (event.preventDefault(), timeline.scroll(event.deltaY)), {
      passive: false,
    });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener(
      "pointermove",
      (event) => event.buttons === 0 && timeline.hover(event.offsetX, event.offsetY),
    );
    canvas.addEventListener("pointerleave", () => timeline.unhover());
    canvas.addEventListener("dblclick", () => timeline.zoomToSelection());
  }

  /** Zooms, like a pinch; shift scrolls, alt or a horizontal wheel moves. */
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const [across, down] = [event.deltaX * lines, event.deltaY * lines];
    if (event.shiftKey) return this.timeline.scroll(down || across);
    if (event.altKey || Math.abs(across) > Math.abs(down)) return this.timeline.pan(across || down);
    // A pinch sends small steps.
    const speed = event.ctrlKey && Math.abs(down) < 50 ? 100 : 300;
    this.timeline.zoom(Math.exp(Math.min(Math.max(down, -200), 200) / speed), event.offsetX);
    this.timeline.hover(event.offsetX, event.offsetY);
  }

  private down(event: PointerEvent): void {
    if (event.pointerType === "touch") {
      this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      if (this.fingers.size === 2) return;
    }
    if (event.button > 1) return;
    this.canvas.focus();
    this.follow(event, this.gesture(event));
  }

  private gesture(event: PointerEvent): Gesture {
    const { scene } = this.timeline;
    const bar = thumb(scene);
    if (bar && event.offsetX > scene.width - SCROLLBAR && event.offsetY > RULER) return this.scrolling(event);
    const strip = this.timeline.stripAt(event.offsetY);
    if (event.altKey && strip?.kind === "group") return this.moving(event, strip.trace);
    if (event.offsetY < RULER) return this.selecting(event, false);
    return event.shiftKey || store.state.isBoxMode ? this.selecting(event, true) : this.panning(event);
  }

  private follow(down: PointerEvent, gesture: Gesture): void {
    let hasMoved = false;
    this.canvas.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent): void => {
      if (event.pointerId !== down.pointerId && this.fingers.size < 2) return;
      if (this.fingers.size >= 2) return this.pinch(event);
      hasMoved ||= Math.abs(event.offsetX - down.offsetX) + Math.abs(event.offsetY - down.offsetY) > 3;
      if (!hasMoved) return;
      this.timeline.unhover();
      gesture.move(event);
    };
    const up = (event: PointerEvent): void => {
      this.fingers.delete(event.pointerId);
      if (event.pointerId !== down.pointerId) return;
      for (const [name, work] of [
        ["pointermove", move],
        ["pointerup", up],
        ["pointercancel", up],
      ] as const)
        this.canvas.removeEventListener(name, work);
      this.canvas.classList.remove("grabbed");
      gesture.end?.(event, hasMoved);
    };
    for (const [name, work] of [
      ["pointermove", move],
      ["pointerup", up],
      ["pointercancel", up],
    ] as const)
      this.canvas.addEventListener(name, work);
  }

  /** A two-finger gesture, which keeps the range between the fingers. */
  private pinch(event: PointerEvent): void {
    const before = [...this.fingers.values()].map((finger) => finger.x);
    this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    const after = [...this.fingers.values()].map((finger) => finger.x);
    const [a, b, c, d] = [before[0] ?? 0, before[1] ?? 0, after[0] ?? 0, after[1] ?? 0];
    if (Math.abs(c - d) < 10) return;
    this.timeline.zoom(Math.abs(a - b) / Math.abs(c - d), (c + d) / 2);
    this.timeline.pan((a + b - c - d) / 2);
  }

  private panning(down: PointerEvent): Gesture {
    const start: Range & { scroll: number } = { ...store.state.view, scroll: this.timeline.scene.scroll };
    this.canvas.classList.add("grabbed");
    return {
      move: (event) => {
        const by = ((down.offsetX - event.offsetX) / this.timeline.width) * (start.to - start.from);
        look(start.from + by, start.to + by);
        this.timeline.scrollTo(start.scroll + down.offsetY - event.offsetY);
      },
      end: (event, hasMoved) => void (hasMoved || this.timeline.click(event.offsetX, event.offsetY)),
    };
  }

  private scrolling(down: PointerEvent): Gesture {
    const { scene } = this.timeline;
    const start = scene.scroll;
    const scale =
      (scene.contentHeight - scene.height) / Math.max(1, scene.height - RULER - (thumb(scene)?.height ?? 0));
    return { move: (event) => this.timeline.scrollTo(start + (event.offsetY - down.offsetY) * scale) };
  }

  /** Selects a time range; with tracks, only the tracks that the box touches. */
  private selecting(down: PointerEvent, hasTracks: boolean): Gesture {
    const { scene } = this.timeline;
    const from = nsOf(down.offsetX, scene.width);
    const top = hasTracks ? down.offsetY + scene.scroll : null;
    return {
      move: (event) => {
        scene.box = { from, to: nsOf(event.offsetX, scene.width), top, bottom: event.offsetY + scene.scroll };
        this.timeline.invalidate();
      },
      end: (event, hasMoved) => {
        const { box } = scene;
        scene.box = null;
        this.timeline.invalidate();
        if (!hasMoved || !box) return void this.timeline.click(event.offsetX, event.offsetY);
        const range = { from: Math.round(Math.min(box.from, box.to)), to: Math.round(Math.max(box.from, box.to)) };
        select({
          place: null,
          span: null,
          range,
          tracks: box.top === null ? null : this.tracksIn(box.top, box.bottom),
        });
      },
    };
  }

  private tracksIn(one: number, other: number): number[] | null {
    const seen = between(this.timeline.scene.strips, Math.min(one, other), Math.max(one, other) + 1);
    const tracks = new Set(seen.map((strip) => strip.track).filter((track) => track !== null));
    return tracks.size > 0 ? [...tracks] : null;
  }

  /** Moves a whole trace on the axis. */
  private moving(down: PointerEvent, trace: number): Gesture {
    const start = store.state.server.traces[trace]?.offset_ns ?? 0;
    const pixel = viewWidth() / this.timeline.width;
    let isSending = false;
    let wanted: number | null = null;
    const set = async (): Promise<void> => {
      isSending = true;
      while (wanted !== null) {
        const ns = wanted;
        wanted = null;
        await setOffset(trace, ns).catch(() => undefined);
      }
      isSending = false;
    };
    return {
      move: (event) => {
        wanted = start + (event.offsetX - down.offsetX) * pixel;
        if (!isSending) void set();
      },
    };
  }
}
