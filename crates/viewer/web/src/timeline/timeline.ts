// The timeline: draws changes, requests data when the view moves, and scrolls to items.

import { ask, EVENT } from "../api";
import { moment } from "../format";
import {
  arrange,
  look,
  NOTHING,
  openPanel,
  select,
  selectEvent,
  selectSpan,
  store,
  viewWidth,
  type Place,
} from "../store";
import { isLoading, selectedAt, type Reveal } from "../store/state";
import { toast } from "../header";
import { hintsOf } from "../queried/answer";
import { byId } from "../widgets/dom";
import { showRow } from "../widgets/jump";
import type { EventMark, Found, LogMark } from "../wire";
import { Card, type Target } from "./card";
import { draw } from "./draw";
import { Input } from "./input";
import { Labels } from "./labels";
import { between, LANE_KINDS, layout, ROW, RULER, type Strip } from "./layout";
import { eventsOf } from "./marks";
import { groupOf } from "./names";
import { barAt, Painter, placeOf, type Picture } from "./picture";
import { markAt } from "./queried";
import { savePicture } from "./save";
import { nsOf, placed, xOf, type Bar, type Scene } from "./scale";
import { textAt } from "./texts";

export class Timeline {
  private readonly host = byId("timeline");
  private readonly canvas = byId("picture") as HTMLCanvasElement;
  private readonly corner = byId("corner");
  private readonly labels = new Labels((top, height) => this.scrollNear(top, height));
  private readonly card = new Card();
  private readonly painter = new Painter(() => this.invalidate());
  readonly scene: Scene;
  private frame = 0;
  private isSeen = false;
  /** The span to zoom to when its length is known. */
  private awaited: Place | null = null;
  private steps = Promise.resolve();
  /** Called when a picture is complete. */
  onDrawn: (picture: Picture) => void = () => undefined;

  constructor() {
    // Drawn by the CPU, because sending thousands of small rectangles and pixel lines to a GPU costs more, especially
    // to an emulated one.
    const context = this.canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    if (!context) throw new Error("this browser cannot draw");
    this.scene = {
      context,
      width: 0,
      height: 0,
      gutter: 0,
      scroll: 0,
      contentHeight: 0,
      strips: [],
      picture: null,
      hover: null,
      cursor: null,
      box: null,
    };
    new ResizeObserver(() => this.resize()).observe(this.host);
    store.subscribe(
      ({ view }) => view,
      () => {
        this.forgetPointer();
        this.moved();
      },
    );
    store.subscribe(
      ({ server, names, tracks, queried }) => [server.revision, names, tracks, queried],
      () => this.arrange(),
    );
    store.subscribe(
      ({ selection, found, isDark, notes, held }) => [selection, found, isDark, notes, held],
      () => this.invalidate(),
    );
    store.subscribe(
      ({ links }) => links["log"],
      () => this.moved(),
    );
    store.subscribe(
      ({ reveal }) => reveal,
      (reveal) => reveal && this.reveal(reveal),
    );
    new Input(this, this.canvas, byId("labels"));
    this.resize();
  }

  get width(): number {
    return this.scene.width;
  }

  private resize(): void {
    const box = this.host.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    this.scene.gutter = byId("labels").offsetWidth;
    this.scene.width = Math.max(50, box.width - this.scene.gutter);
    this.scene.height = Math.max(50, box.height);
    this.canvas.width = Math.round(this.scene.width * ratio);
    this.canvas.height = Math.round(this.scene.height * ratio);
    this.canvas.style.width = `${this.scene.width}px`;
    this.canvas.style.height = `${this.scene.height}px`;
    this.scene.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.scrollTo(this.scene.scroll);
    // A resized canvas is empty, so known data is drawn before it becomes visible.
    draw(this.scene);
  }

  /** Recomputes the layout of tracks. */
  private arrange(): void {
    const { strips, height } = layout(store.state);
    this.scene.strips = strips;
    this.scene.contentHeight = height;
    this.scene.scroll = Math.min(Math.max(store.state.scroll, 0), Math.max(0, height - this.scene.height));
    this.labels.renew(strips, this.scene.scroll, this.scene.height);
    this.moved();
  }

  /** Called when the view moved: draws known data at once, and requests the rest. */
  private moved(): void {
    this.invalidate();
    const { scroll, height, strips } = this.scene;
    const [top, bottom] = [scroll - 100, scroll + height + 100];
    if (store.state.server.revision >= 0)
      this.painter.want(Math.ceil(this.width), between(strips, top, bottom), top, bottom);
  }

  invalidate(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.scene.picture = this.painter.picture;
      draw(this.scene);
      // Scripts can wait until the picture is complete, and query the item under the pointer.
      const isEmpty = store.state.server.traces.length === 0;
      this.canvas.dataset["drawn"] = String(this.painter.isDone && !isEmpty && !isLoading(store.state));
      if (this.painter.isDone && this.scene.picture) this.onDrawn(this.scene.picture);
      if (!this.isSeen && this.scene.picture && this.scene.picture.lanes.size > 0) this.seen();
    });
  }

  /** For measuring the time to the first picture. */
  private seen(): void {
    this.isSeen = true;
    performance.mark("traceloom-picture");
  }

  scrollTo(top: number): void {
    const { contentHeight, height } = this.scene;
    this.scene.scroll = Math.min(Math.max(top, 0), Math.max(0, contentHeight - height));
    store.set({ scroll: this.scene.scroll });
    this.labels.place(this.scene.scroll, height);
    this.moved();
  }

  scroll(pixels: number): void {
    this.scrollTo(this.scene.scroll + pixels);
  }

  zoom(factor: number, x = this.scene.cursor?.x ?? this.width / 2): void {
    const at = nsOf(x, this.width);
    const { from, to } = store.state.view;
    look(at - (at - from) * factor, at + (to - at) * factor);
  }

  pan(pixels: number): void {
    const by = (pixels / this.width) * (store.state.view.to - store.state.view.from);
    look(store.state.view.from + by, store.state.view.to + by);
  }

  /** The strip at a height of the page. */
  stripAt(y: number): Strip | null {
    const top = y + this.scene.scroll;
    return y < RULER ? null : (between(this.scene.strips, top, top + 1)[0] ?? null);
  }

  /** The item at a point. */
  targetAt(x: number, y: number): Target | null {
    const { picture } = this.scene;
    const ns = nsOf(x, this.width);
    if (y < RULER) return { kind: "time", ns };
    const strip = this.stripAt(y);
    if (strip?.kind === "queried") {
      const track = store.state.queried[strip.number];
      const mark = track && markAt(strip, ns, y + this.scene.scroll, (3 * viewWidth()) / this.width);
      return mark ? { kind: "row", track, mark } : null;
    }
    if (!picture || !strip) return null;
    if (strip.kind === "counter" || strip.kind === "memory") return { kind: "chart", strip, picture, ns };
    if (strip.kind === "text") {
      const label = textAt(picture, strip, ns + (store.state.view.to - store.state.view.from) / this.width);
      return label && { kind: "text", strip, label };
    }
    if (strip.kind === "events" || strip.kind === "bookmarks") {
      const mark = this.nearest<EventMark>(eventsOf(picture, strip), x, 7);
      return mark && { kind: "event", mark };
    }
    if (strip.kind === "logs") {
      const mark = this.nearest<LogMark>(picture.logs.get(strip.number) ?? [], x, 5);
      return mark && { kind: "log", mark };
    }
    const bar = this.barAt(strip, x, y);
    return bar && { kind: "bar", bar };
  }

  private nearest<T extends [number, number, ...unknown[]]>(marks: T[], x: number, reach: number): T | null {
    let best: T | null = null;
    for (const mark of marks) {
      const away = Math.abs(xOf(mark[1], this.width) - x);
      if (away <= reach) [best, reach] = [mark, away];
    }
    return best;
  }

  private barAt(strip: Strip, x: number, y: number): Bar | null {
    const { picture, scroll, width } = this.scene;
    const kind = LANE_KINDS[strip.kind];
    if (!picture || kind === undefined) return null;
    const depth = strip.kind === "switches" ? 0 : Math.floor((y + scroll - strip.top) / ROW);
    const lane = picture.lanes.get(strip.number)?.find((one) => one.kind === kind && one.depth === depth);
    if (!lane) return null;
    const { offset, scale } = placed(picture, width);
    const bar = barAt(lane, (x - offset) / scale, 3 / scale);
    return bar < 0 ? null : { lane, bar };
  }

  hover(x: number, y: number): void {
    const target = this.targetAt(x, y);
    this.scene.cursor = { x, y };
    this.showTime(x);
    this.scene.hover = target?.kind === "bar" ? target.bar : null;
    this.canvas.dataset["under"] =
      target?.kind === "bar"
        ? store.state.names.text(target.bar.lane.names[target.bar.bar] ?? -1)
        : (target?.kind ?? "");
    this.invalidate();
    const place = (): void => this.card.move(x + this.scene.gutter, y);
    if (target) this.card.show(target, place);
    else this.card.hide();
    place();
  }

  /** The view moved, so another item is under the pointer. */
  private forgetPointer(): void {
    const { cursor } = this.scene;
    if (!cursor) return;
    this.card.hide();
    this.scene.hover = null;
    this.showTime(cursor.x);
  }

  private showTime(x: number): void {
    this.corner.textContent = moment(nsOf(x, this.width), viewWidth() / this.width);
  }

  unhover(): void {
    this.card.hide();
    this.corner.textContent = "";
    this.scene.hover = null;
    this.scene.cursor = null;
    this.invalidate();
  }

  async click(x: number, y: number): Promise<void> {
    const target = this.targetAt(x, y);
    // The panel shows the same now.
    this.card.dismiss();
    if (target?.kind === "bar" && target.bar.lane.kind < 3) {
      const { lane, bar } = target.bar;
      await this.select(placeOf(lane, bar), lane.names[bar] ?? null, null);
    } else if (target?.kind === "event") {
      const [track, ts, name, , , id] = target.mark;
      await selectEvent(track, id, ts, name);
    } else if (target?.kind === "row") {
      const hints = hintsOf(target.track.answer, target.mark.row);
      if (hints) await showRow(hints);
    } else if (target?.kind === "log") {
      const ts = target.mark[1];
      const half = (store.state.view.to - store.state.view.from) / this.width;
      select({ ...NOTHING, range: { from: Math.floor(ts - half), to: Math.ceil(ts + half) } });
      openPanel("log");
    } else if (target?.kind !== "chart" && target?.kind !== "text") select(NOTHING);
  }

  /** Selects a span, and zooms to it if that was requested meanwhile. */
  private async select(place: Place, name: number | null, ts: number | null): Promise<void> {
    await selectSpan(place, name, ts);
    if (this.awaited === place) this.zoomNow();
  }

  /** Goes to the next or previous span of the selected name, one at a time even if requested faster. */
  step(isBack: boolean): Promise<void> {
    this.steps = this.steps.then(() => this.stepNow(isBack)).catch(() => undefined);
    return this.steps;
  }

  private async stepNow(back: boolean): Promise<void> {
    const { selection, view } = store.state;
    if (selection.name === null) return toast("Select a span or a name first; then n and N step through its spans.");
    const ts = Math.round(selectedAt(selection) ?? view.from);
    const found = await ask("next", { name: selection.name, ts, back });
    if (!found) return toast(`No ${back ? "earlier" : "later"} span of this name.`);
    // Other details take longer, and nothing waits for them.
    void this.show(found).catch(() => undefined);
  }

  /** Scrolls to the item that another part of the page requests. */
  private reveal(what: Reveal): void {
    if (what.kind === "found") void this.show(what.found).catch(() => undefined);
    else if (what.kind === "counter") this.showCounter(what.number);
    else if (what.kind === "track") this.showTrack(what.track);
    else if (what.kind === "selection") this.zoomToSelection();
    else void this.step(what.isBack);
  }

  /** Brings a span or an event into view and selects it. */
  private async show(found: Found): Promise<void> {
    const { view } = store.state;
    const width = viewWidth(view);
    const length = found.dur_ns ?? 0;
    const isOutside = found.ts_ns < view.from || found.ts_ns + length > view.to;
    const isTiny = found.kind !== EVENT && length < width / 500;
    if (isOutside || isTiny) {
      const wanted = found.kind === EVENT ? width : Math.max(Math.min(width, length * 50), length * 1.5, 100);
      look(found.ts_ns + length / 2 - wanted / 2, found.ts_ns + length / 2 + wanted / 2);
    }
    this.bringNear(found);
    if (found.kind === EVENT) return selectEvent(found.track, found.index, found.ts_ns, found.name);
    const { track, kind, depth, index } = found;
    await this.select({ track, kind, depth, index }, found.name, found.ts_ns);
  }

  private bringNear({ track, depth, kind }: Place): void {
    this.unfold(track);
    const wanted = ["spans", "frames", "ranges", "switches", "events"][kind] ?? "spans";
    const strip = this.scene.strips.find((one) => one.kind === wanted && one.number === track);
    if (strip) this.scrollNear(strip.top + depth * ROW, ROW);
  }

  /** Scrolls to the heading of a track and gives it the focus. */
  private showTrack(track: number): void {
    this.unfold(track, false);
    const strip = this.scene.strips.find((one) => one.kind === "head" && one.number === track);
    if (!strip) return;
    this.scrollNear(strip.top, 4 * ROW);
    this.labels.focus(track);
  }

  /** Scrolls to values. */
  private showCounter(number: number): void {
    const track = store.state.server.counters[number]?.track ?? null;
    if (track !== null) this.unfold(track);
    const strip = this.scene.strips.find(
      (one) => (one.kind === "counter" || one.kind === "text") && one.number === number,
    );
    if (strip) this.scrollNear(strip.top, strip.height);
  }

  /** Shows a track that is hidden or below a folded heading, and unfolds it unless only its heading is needed. */
  private unfold(track: number, isWhole = true): void {
    const { folded, hidden, groups } = store.state.tracks;
    const info = store.state.server.tracks[track];
    const group = info ? groupOf(info) : "";
    const isFolded = isWhole && folded.has(track);
    if (!isFolded && !hidden.has(track) && !groups.has(group)) return;
    arrange({
      folded: isFolded ? without(folded, track) : folded,
      hidden: without(hidden, track),
      groups: without(groups, group),
    });
  }

  private scrollNear(top: number, high: number): void {
    // The window may have changed since the last frame.
    if (Math.max(50, this.host.getBoundingClientRect().height) !== this.scene.height) this.resize();
    const { scroll, height } = this.scene;
    if (top >= scroll + RULER && top + high <= scroll + height - ROW) return;
    this.scrollTo(top - height / 2);
  }

  /** Folds all tracks, or unfolds them if all are folded. */
  foldAll(): void {
    const all = store.state.server.tracks.map((_, number) => number);
    const { folded } = store.state.tracks;
    const top = this.scene.scroll + RULER;
    const before = between(this.scene.strips, top, top + 1)[0];
    arrange({ folded: all.every((number) => folded.has(number)) ? new Set() : new Set(all) });
    // The track at the top stays there.
    const after = this.scene.strips.find((strip) => strip.track !== null && strip.track === before?.track);
    if (after && this.scene.scroll > 0) this.scrollTo(after.top - RULER);
  }

  /** Zooms to the selection, as soon as its length is known. */
  zoomToSelection(): void {
    void this.steps.then(() => this.zoomNow());
  }

  private zoomNow(): void {
    const { range, span, place } = store.state.selection;
    this.awaited = span ? null : place;
    if (span) {
      const margin = (span.dur_ns ?? 100) * 0.1 + 5;
      look(span.ts_ns - margin, span.ts_ns + (span.dur_ns ?? 0) + margin);
    } else if (range && !place) look(range.from, range.to);
  }

  /** Saves the picture as a file. */
  save(): void {
    savePicture(this.scene);
  }
}

function without<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  return set.has(value) ? new Set([...set].filter((one) => one !== value)) : set;
}
