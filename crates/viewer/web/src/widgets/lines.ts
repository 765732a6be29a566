// A virtual list: any number of lines of equal height, of which only visible ones are elements.

import { onNextFrame } from "./canvas";
import { element } from "./dom";
import { stepOf } from "./steps";

/** Browsers cannot draw beyond about ten million pixels, so a longer list is scrolled proportionally. */
const MAX_PIXELS = 8_000_000;
const SPARE = 6;

export interface LinesOptions {
  label: string;
  /** Height of a line. */
  height: number;
  /** The ARIA roles of the list and its lines (default: a listbox). */
  roles?: [list: string, line: string];
  /** Creates the element of a line. */
  line(at: number): HTMLElement;
  /** Called with the range of visible lines, with an exclusive end. */
  seen?(from: number, to: number): void;
  /** A line was clicked, or reached by keys. */
  choose?(at: number): void;
  /** Enter or a double click. */
  open?(at: number): void;
}

export class Lines {
  readonly host: HTMLElement;
  private readonly later: () => void;
  /** The focused line. */
  active = -1;
  private readonly space = element("div", { class: "space" });
  private readonly made = new Map<number, HTMLElement>();
  private total = 0;
  /** The scroll position, in pixels of all lines. */
  private top = 0;
  /** The expected scroll position of the browser; if it differs, the user scrolled. */
  private expected = 0;

  constructor(private readonly options: LinesOptions) {
    this.host = element(
      "div",
      { class: "lines", tabindex: "0", role: options.roles?.[0] ?? "listbox", "aria-label": options.label },
      this.space,
    );
    this.later = onNextFrame(this.host, () => this.moveTo(this.top));
    this.host.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.host.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.host.addEventListener("keydown", (event) => this.key(event));
    this.host.addEventListener("click", (event) => this.press(event, (at) => this.choose(at)));
    this.host.addEventListener("dblclick", (event) => this.press(event, (at) => this.options.open?.(at)));
    new ResizeObserver(() => this.later()).observe(this.host);
  }

  get count(): number {
    return this.total;
  }

  /** Sets other lines, and redraws everything. */
  setCount(count: number): void {
    this.total = count;
    this.space.style.height = `${Math.min(count * this.options.height, MAX_PIXELS)}px`;
    this.active = Math.min(this.active, count - 1);
    this.refresh();
  }

  /** Redraws the visible lines. */
  refresh(): void {
    this.made.forEach((line) => line.remove());
    this.made.clear();
    this.moveTo(this.top);
  }

  /** Marks a line and scrolls to it. */
  reveal(at: number, isMiddle = false): void {
    this.mark(at);
    const { height } = this.options;
    const [first, view] = [at * height, this.host.clientHeight];
    const isSeen = first >= this.top && first + height <= this.top + view;
    if (isSeen && !isMiddle) return;
    if (isMiddle && first >= this.top + height && first + 2 * height <= this.top + view) return;
    if (isMiddle || view === 0) this.moveTo(first - view / 2);
    else this.moveTo(first < this.top ? first : first + height - view);
  }

  /** Scrolls a line to the top. */
  begin(at: number): void {
    this.moveTo(at * this.options.height);
  }

  /** Marks a line. */
  mark(at: number): void {
    this.made.get(this.active)?.setAttribute("aria-selected", "false");
    this.active = at;
    this.made.get(at)?.setAttribute("aria-selected", "true");
  }

  /** The range of visible lines, with an exclusive end. */
  window(): [number, number] {
    const { height } = this.options;
    const from = Math.max(0, Math.floor(this.top / height) - SPARE);
    return [
      Math.min(from, this.total),
      Math.min(this.total, Math.ceil((this.top + this.host.clientHeight) / height) + SPARE),
    ];
  }

  /** Restores the scroll position after the element was removed from the page. */
  resume(): void {
    this.moveTo(this.top);
  }

  private get longest(): number {
    return Math.max(0, this.total * this.options.height - this.host.clientHeight);
  }

  /** Pixels of the browser per pixel of all lines. */
  private get ratio(): number {
    const real = Math.max(0, Math.min(this.total * this.options.height, MAX_PIXELS) - this.host.clientHeight);
    return this.longest > 0 ? real / this.longest : 1;
  }

  private moveTo(top: number): void {
    this.top = Math.min(Math.max(top, 0), this.longest);
    this.host.scrollTop = this.top * this.ratio;
    this.expected = this.host.scrollTop;
    this.draw();
  }

  private scrolled(): void {
    if (Math.abs(this.host.scrollTop - this.expected) > 0.5) {
      this.expected = this.host.scrollTop;
      this.top = Math.min(this.host.scrollTop / this.ratio, this.longest);
    }
    this.draw();
  }

  /** With proportional scrolling, the wheel would skip thousands of lines at a time. */
  private wheel(event: WheelEvent): void {
    if (this.ratio >= 1 || event.ctrlKey) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? this.options.height : event.deltaMode === 2 ? this.host.clientHeight : 1;
    this.moveTo(this.top + event.deltaY * unit);
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.host.clientHeight / this.options.height) - 1);
    const step = stepOf(event.key, page);
    if (event.ctrlKey || event.metaKey || event.altKey || this.total === 0) return;
    if (step !== undefined) {
      this.choose(Math.min(Math.max(this.active + step, 0), this.total - 1));
      this.reveal(this.active);
    } else if (event.key === "Enter" && this.active >= 0) this.options.open?.(this.active);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private choose(at: number): void {
    this.mark(at);
    this.options.choose?.(at);
  }

  private press(event: MouseEvent, work: (at: number) => void): void {
    const line = (event.target as HTMLElement).closest<HTMLElement>("[data-line]");
    // Selecting text to copy it does not choose a line.
    if (line && String(getSelection()) === "") work(Number(line.dataset["line"]));
  }

  private draw(): void {
    const [from, to] = this.window();
    for (const [at, line] of this.made) {
      if (at >= from && at < to) continue;
      line.remove();
      this.made.delete(at);
    }
    const shift = this.host.scrollTop - this.top;
    for (let at = from; at < to; at++) {
      const line = this.made.get(at) ?? this.make(at);
      line.style.transform = `translateY(${at * this.options.height + shift}px)`;
    }
    this.options.seen?.(from, to);
  }

  private make(at: number): HTMLElement {
    const line = this.options.line(at);
    line.dataset["line"] = String(at);
    line.style.height = `${this.options.height}px`;
    // A line that is still being requested has no text to announce.
    if (line.textContent === "") line.setAttribute("aria-hidden", "true");
    else {
      line.setAttribute("role", this.options.roles?.[1] ?? "option");
      line.setAttribute("aria-selected", String(at === this.active));
    }
    this.made.set(at, line);
    this.space.append(line);
    return line;
  }
}
