// Flame graph of the selection, the window or everything.

import { askWith } from "../../api";
import { count, share } from "../../format";
import { select, store } from "../../store";
import { comparedTraces, type Sides } from "../../store/compared";
import type { FlameLink } from "../../store/panels";
import { Question } from "../../widgets/busy";
import { palette } from "../../theme";
import { element, facts, note, saveFile, switcher, type Choice } from "../../widgets/dom";
import { followView, isWhole, range, rangeKey, rangeSwitch } from "../../widgets/range";
import type { FlameAnswer, FlameView } from "../../wire";
import { fresh, type Panel, type Watch } from "../panel";
import { amount, hasMemory, hasSpans, hasTimes, keep, kept, stacksQuery, unit, weights } from "../../stacks/kept";
import { stepCrumbs, stepTools } from "../../stacks/steps";
import { svgOf } from "./svg";
import { layout, matched, NO_BOXES, pathTo, type Box, type Boxes } from "./tree";
import { FlameCanvas, label, paintOf } from "./view";

const SIDES: Choice<FlameView>[] = [
  { id: "top", title: "Top-down", hint: "Start at the outermost spans, show their callees" },
  { id: "bottom", title: "Bottom-up", hint: "Inverted: start at the function that takes the time, show its callers" },
  { id: "sandwich", title: "Sandwich", hint: "Callers above and callees below the selected name" },
];

class FlamePanel {
  private readonly tools = element("div", { class: "tools" });
  private readonly crumbs = element("nav", { class: "crumbs", "aria-label": "Zoom" });
  private readonly said = element("span", { class: "note", role: "status" });
  private readonly card = element("div", { class: "card", role: "status" });
  private readonly question = new Question();
  private readonly body = element("div", { class: "flamebody" });
  private readonly view = new FlameCanvas({
    pick: (number) => this.pick(number),
    back: () => this.back(),
    over: (number, at) => this.over(number, at),
  });
  private boxes: Boxes = NO_BOXES;
  private answer: FlameAnswer | null = null;

  constructor(readonly host: HTMLElement) {
    this.card.hidden = true;
    host.classList.add("column");
    host.append(this.question.host, this.tools, this.crumbs, this.body, this.card);
    this.body.append(this.view.host);
  }

  watch(watch: Watch): void {
    followView(watch, () => void this.update());
    watch(
      ({ isDark, searched }) => [isDark, searched],
      () => this.restyle(),
    );
  }

  /** The name in the middle of a sandwich. */
  private middle(): string | null {
    const { name } = store.state.selection;
    return name === null ? kept().name : store.state.names.text(name);
  }

  /** The compared traces; a sandwich shows only one. */
  private compared(): Sides | null {
    const { compares, view } = kept();
    return compares && view !== "sandwich" ? comparedTraces() : null;
  }

  async update(): Promise<void> {
    const asked = range();
    const { view, path } = kept();
    const name = view === "sandwich" ? this.middle() : null;
    const compare = this.compared();
    const where = compare ? { compare } : asked;
    const body = { ...where, ...stacksQuery(), view, path: view === "sandwich" ? [] : path, name };
    const key = rangeKey(asked) + JSON.stringify(body);
    if (!this.question.isNew(key)) return this.restyle();
    this.writeTools();
    await this.question.ask(
      (signal) => askWith("flame", body, signal),
      (answer) => this.fill(answer),
      (message) => this.body.replaceChildren(message),
    );
  }

  private restyle(): void {
    this.writeTools();
    this.view.repaint();
    this.search();
  }

  private fill(answer: FlameAnswer): void {
    this.answer = answer;
    const hadFocus = this.body.contains(document.activeElement);
    this.boxes = layout(answer);
    this.card.hidden = true;
    this.writeCrumbs();
    if (answer.total === 0 || this.boxes.list.length === 0)
      return this.body.replaceChildren(note(this.nothing(answer)));
    if (!this.view.host.isConnected) this.body.replaceChildren(this.view.host);
    this.view.show(this.boxes);
    // Scripts can wait until it is drawn.
    this.body.dataset["shows"] = `${kept().weight} ${kept().view}${this.boxes.isCompared ? " compared" : ""}`;
    if (hadFocus) this.view.host.focus({ preventScroll: true });
    this.search();
  }

  private nothing(answer: FlameAnswer): string {
    if (answer.loading) return "The trace is still loading.";
    if (answer.total > 0) return `No stack in this range contains ${answer.name ?? ""}.`;
    if (!hasSpans() && !hasMemory()) {
      if (!isWhole(range())) return "This trace has no times of individual calls; choose Everything to see its stacks.";
      return "This trace has no spans, calls or allocations, so there are no stacks to draw.";
    }
    return "Nothing with this weight starts in this range.";
  }

  private writeTools(): void {
    const { weight, view, threads } = kept();
    const focused = (document.activeElement as HTMLElement | null)?.dataset["choice"];
    const hadFocus = this.tools.contains(document.activeElement);
    const apart = element(
      "button",
      {
        type: "button",
        "aria-pressed": String(threads),
        "data-choice": "threads",
        title: "Group by thread",
      },
      "By thread",
    );
    apart.addEventListener("click", () => this.change({ threads: !threads, path: [] }));
    const compares = this.compared() !== null;
    const hint = "Color boxes by the change between the traces of the Changes panel: red means more, blue means less";
    const differ = element(
      "button",
      { type: "button", "aria-pressed": String(compares), "data-choice": "compare", title: hint },
      "Compare",
    );
    differ.addEventListener("click", () => this.change({ compares: !compares, path: [], view: sideOf(view) }));
    const save = element("button", { type: "button", title: "Save the whole graph as an image" }, "SVG");
    save.addEventListener("click", () => this.save());
    this.tools.replaceChildren(
      ...(compares ? [] : [rangeSwitch(() => void this.update())]),
      switcher("Width", weights(), weight, (id) => this.change({ weight: id })),
      switcher("View", SIDES, view, (id) => this.change({ view: id, path: [] })),
      ...(hasSpans() ? [apart] : []),
      ...(comparedTraces() ? [differ] : []),
      stepTools(this.middle(), () => void this.update()),
      save,
      this.said,
    );
    if (hadFocus && focused) this.tools.querySelector<HTMLElement>(`[data-choice="${focused}"]`)?.focus();
  }

  private save(): void {
    const colors = palette();
    const svg = svgOf(this.boxes, (box) => {
      const { css, text } = paintOf(this.boxes, box);
      const title = `${label(box)}: ${amount(box.total)} · ${share(box.total, this.answer?.total ?? 0)}`;
      const isPlain = box.folded > 0 || box.name === null;
      return { fill: isPlain ? colors.line : css, text: isPlain ? colors.text : text, label: label(box), title };
    });
    saveFile("flame.svg", [svg], "image/svg+xml");
  }

  private change(change: FlameLink): void {
    keep(change);
    void this.update();
  }

  private writeCrumbs(): void {
    const { answer } = this;
    if (!answer) return;
    if (kept().view === "sandwich") {
      const middle = element("span", {}, answer.name ?? "");
      return this.crumbs.replaceChildren(
        element("span", { class: "note" }, "callers ↑"),
        middle,
        element("span", { class: "note" }, "callees ↓"),
      );
    }
    const taken = stepCrumbs(() => void this.update());
    const zoomed = answer.path.map((name, depth): HTMLElement => {
      const step = element("button", { type: "button", title: name }, name);
      step.addEventListener("click", () => this.change({ path: answer.path.slice(0, depth + 1) }));
      return step;
    });
    // The last step also leaves a zoom.
    const steps = [...taken, ...zoomed];
    steps.at(-1)?.setAttribute("aria-current", "true");
    // In a long path, the middle is least informative.
    if (steps.length > 12)
      steps.splice(2, steps.length - 10, element("span", { class: "note" }, `… ${steps.length - 10} more …`));
    this.crumbs.replaceChildren(...steps);
    this.crumbs.scrollLeft = this.crumbs.scrollWidth;
  }

  private search(): void {
    const text = store.state.searched.trim().toLowerCase();
    const isMatch = (name: string): boolean => name.toLowerCase().includes(text);
    this.view.search(text === "" ? null : isMatch);
    const found = text === "" ? "" : `${share(matched(this.boxes, isMatch), 1)} matches`;
    const rough = this.answer?.estimate ? "Estimated: the profiler recorded callers, not stacks." : "";
    this.said.textContent = [found, rough].filter((part) => part !== "").join(" · ");
  }

  private pick(number: number): void {
    const box = this.boxes.list[number];
    const { answer } = this;
    if (!box || !answer) return;
    const { view } = kept();
    const known = box.name === null ? undefined : store.state.names.number(box.name);
    if (view === "sandwich") {
      if (box.name === null) return;
      keep({ name: box.name });
      select({ name: known ?? null });
      return void this.update();
    }
    // Clicking a box of many small ones zooms to its parent; clicking the zoomed box goes back.
    const target = box.folded > 0 ? box.parent : number;
    const path = number === 0 ? answer.path.slice(0, -1) : pathTo(this.boxes, target, answer.path);
    keep({ path, name: number === 0 ? null : box.name });
    if (known !== undefined && number !== 0) select({ name: known });
    void this.update();
  }

  private back(): boolean {
    const path = this.answer?.path ?? [];
    if (kept().view === "sandwich" || path.length === 0) return false;
    this.change({ path: path.slice(0, -1) });
    return true;
  }

  private over(number: number, at: { x: number; y: number } | null): void {
    const box = this.boxes.list[number];
    this.card.hidden = !box;
    if (!box) return;
    this.card.replaceChildren(...this.describe(box));
    const place = at ?? this.placeOf(box);
    const { offsetWidth: width, offsetHeight: height } = this.card;
    const left = place.x + 14 + width > innerWidth ? place.x - width - 10 : place.x + 14;
    const top = place.y + 16 + height > innerHeight ? place.y - height - 10 : place.y + 16;
    this.card.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  }

  private placeOf(box: Box): { x: number; y: number } {
    const outside = this.view.host.getBoundingClientRect();
    const y = outside.top + (box.row + 1) * 19 - this.view.host.scrollTop;
    return { x: outside.left + Math.min(box.from * outside.width + 20, outside.width - 40), y };
  }

  private describe(box: Box): HTMLElement[] {
    const root = this.boxes.list[0]?.total ?? 0;
    const rows: [string, string][] = [
      ["total", `${amount(box.total)} · ${share(box.total, this.answer?.total ?? 0)} of everything`],
      ["before", box.before === null ? "" : `${amount(box.before)}${changed(box.total, box.before)}`],
      ["self", box.folded > 0 ? "" : amount(box.own)],
      ["in this view", root === this.answer?.total ? "" : share(box.total, root)],
      [unit(this.answer?.estimate ?? false), kept().weight === "count" ? "" : count(box.count)],
    ];
    const title =
      box.folded > 0 ? `${count(box.folded)} boxes too small to draw; click to see them larger` : label(box);
    return [element("strong", {}, title), facts(rows)];
  }
}

/** A view in which traces can be compared. */
function sideOf(view: FlameView): FlameView {
  return view === "sandwich" ? "top" : view;
}

function changed(total: number, before: number): string {
  if (before === 0) return " · new";
  const part = (100 * (total - before)) / before;
  return ` · ${part >= 0 ? "+" : ""}${part.toFixed(1)} %`;
}

export const flame: Panel = {
  id: "flame",
  title: "Flame graph",
  isUseful: (state) => hasTimes(state) || hasMemory(state),
  create: () => fresh((host) => new FlamePanel(host)),
};
