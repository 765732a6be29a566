// The call tree as rows, top-down or bottom-up.

import { askWith } from "../../api";
import { count, share } from "../../format";
import { keepLink, linkOf, reveal, select, store, takesKeys } from "../../store";
import { paintText } from "../../theme";
import { Question } from "../../widgets/busy";
import { element, note, switcher } from "../../widgets/dom";
import { Lines } from "../../widgets/lines";
import { followView, range, rangeKey, rangeSwitch } from "../../widgets/range";
import type { FlameAnswer } from "../../wire";
import { fresh, type Panel, type Watch } from "../panel";
import { amount, hasMemory, hasSpans, hasTimes, keep, kept, stacksQuery, unit, weights } from "../../stacks/kept";
import { stepCrumbs, stepTools } from "../../stacks/steps";
import { below, heaviest, mostOf, seen, treeOf, type TreeNode, type TreeSort } from "./rows";

const ROW = 22;

class TreePanel {
  private readonly tools = element("div", { class: "tools" });
  private readonly crumbs = element("nav", { class: "crumbs", "aria-label": "Steps" });
  private readonly head = element("div", { class: "treehead" });
  private readonly body = element("div", { class: "treebody" });
  private readonly question = new Question();
  private readonly lines = new Lines({
    label: "Call tree. Right and left open and close, * opens all below, Enter goes to the next span.",
    height: ROW,
    roles: ["tree", "treeitem"],
    line: (at) => this.line(at),
    choose: (at) => this.choose(at),
    open: (at) => this.go(at),
  });
  private answer: FlameAnswer | null = null;
  private roots: TreeNode[] = [];
  private rows: TreeNode[] = [];
  private open = new Set<string>();
  private chosen: TreeNode | null = null;

  constructor(readonly host: HTMLElement) {
    host.classList.add("column");
    host.append(this.question.host, this.tools, this.crumbs, this.head, this.body);
    this.lines.host.addEventListener("keydown", (event) => this.press(event), { capture: true });
  }

  watch(watch: Watch): void {
    followView(watch, () => void this.update());
    watch(
      ({ isDark }) => isDark,
      () => this.lines.refresh(),
    );
  }

  async update(): Promise<void> {
    const asked = range();
    const query = { ...asked, ...stacksQuery(), view: view() };
    const key = rangeKey(asked) + JSON.stringify(query);
    const isNew = this.question.isNew(key);
    this.writeTools();
    if (!isNew) return;
    await this.question.ask(
      (signal) => askWith("flame", query, signal),
      (answer) => this.fill(answer),
      (message) => this.body.replaceChildren(message),
    );
  }

  private fill(answer: FlameAnswer): void {
    this.answer = answer;
    this.roots = treeOf(answer);
    this.open = new Set(heaviest(this.roots));
    this.chooseSelected();
    this.crumbs.replaceChildren(...stepCrumbs(() => void this.update()));
    this.writeHead();
    this.writeTools();
    if (this.roots.length === 0)
      return this.body.replaceChildren(note(answer.loading ? "The trace is still loading." : NOTHING_THERE));
    if (!this.lines.host.isConnected) this.body.replaceChildren(this.lines.host);
    this.arrange();
    if (this.chosen) this.lines.reveal(this.rows.indexOf(this.chosen), true);
    // Scripts can wait until it is drawn.
    this.body.dataset["shows"] = `${kept().weight} ${view()} ${kept().steps.length}`;
    if (takesKeys("tree")) this.lines.host.focus();
  }

  /** Selects the selected name of the timeline, and opens the path to it, which shows its callers. */
  private chooseSelected(): void {
    const { name } = store.state.selection;
    this.chosen = name === null ? null : mostOf(this.roots, store.state.names.text(name));
    for (let node = this.chosen?.parent; node && node.depth >= 0; node = node.parent) this.open.add(node.key);
  }

  /** Draws the open rows and keeps the selection. */
  private arrange(): void {
    this.rows = seen(this.roots, this.open, sort());
    this.lines.setCount(this.rows.length);
    this.lines.active = this.chosen ? this.rows.indexOf(this.chosen) : -1;
    this.lines.refresh();
  }

  private writeTools(): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset["choice"];
    const hadFocus = this.tools.contains(document.activeElement);
    const again = (): void => void this.update();
    const { weight, threads } = kept();
    const apart = element("button", { type: "button", "aria-pressed": String(threads), "data-choice": "threads" });
    apart.textContent = "By thread";
    apart.addEventListener("click", () => {
      keep({ threads: !threads, path: [] });
      again();
    });
    this.tools.replaceChildren(
      rangeSwitch(again),
      switcher("Weight", weights(), weight, (id) => {
        keep({ weight: id });
        again();
      }),
      switcher(
        "Direction",
        [
          { id: "top", title: "Top-down", hint: "Outermost spans first, then what they call" },
          { id: "bottom", title: "Bottom-up", hint: "Functions by self weight first, then their callers" },
        ],
        view(),
        (id) => {
          keep({ view: id, path: [] });
          again();
        },
      ),
      ...(hasSpans() ? [apart] : []),
      stepTools(this.chosen?.name ?? null, again),
      element(
        "span",
        { class: "note", role: "status" },
        this.answer?.estimate ? "Estimated: the profiler recorded callers, not stacks." : "",
      ),
    );
    if (hadFocus && focused) this.tools.querySelector<HTMLElement>(`[data-choice="${focused}"]`)?.focus();
  }

  /** Headings of the columns; numeric columns can be sorted. */
  private writeHead(): void {
    // In a bottom-up tree, all weight is self weight of the outermost row.
    const isUp = view() === "bottom";
    const columns: [title: string, by: TreeSort][] = [
      [isUp ? "self" : "total", "total"],
      [isUp ? "" : "self", "own"],
      [unit(this.answer?.estimate ?? false), "count"],
    ];
    const made = columns.map(([title, by]) => {
      const isOn = sort() === by;
      const button = element("button", { type: "button", "aria-pressed": String(isOn) }, isOn ? `${title} ▾` : title);
      button.title = `Sort by ${title}`;
      button.hidden = title === "";
      button.addEventListener("click", () => {
        keepLink("tree", { sort: by });
        this.writeHead();
        this.arrange();
      });
      return button;
    });
    this.head.replaceChildren(...made, element("span", {}, "name"));
  }

  private line(at: number): HTMLElement {
    const node = this.rows[at];
    const line = element("div", { class: "treeline" });
    if (!node) return line;
    const whole = Math.max(1, this.answer?.total ?? 0);
    const total = element("span", { class: "number" }, `${amount(node.total)} · ${share(node.total, whole)}`);
    total.style.setProperty("--part", `${(100 * node.total) / whole}%`);
    const isOpen = this.open.has(node.key);
    const hasChildren = node.children.length > 0;
    const mark = element(
      "i",
      { class: isOpen ? "fold" : "fold closed", "aria-hidden": "true" },
      hasChildren ? "▾" : "",
    );
    mark.addEventListener("click", (event) => {
      event.stopPropagation();
      this.toggle(node);
    });
    const text = node.folded > 0 ? `${count(node.folded)} smaller` : (node.name ?? "");
    const name = element("span", { class: node.folded > 0 ? "name note" : "name", title: text }, mark);
    name.style.paddingLeft = `${Math.min(node.depth, 60) * 14}px`;
    if (node.name !== null)
      name.append(element("i", { class: "swatch", style: `background: ${paintText(node.name).css}` }));
    name.append(text);
    line.append(
      total,
      element("span", { class: "number" }, node.folded > 0 || view() === "bottom" ? "" : amount(node.own)),
      element("span", { class: "number" }, count(node.count)),
      name,
    );
    line.setAttribute("aria-level", String(node.depth + 1));
    if (hasChildren) line.setAttribute("aria-expanded", String(isOpen));
    return line;
  }

  private toggle(node: TreeNode, isOpen = !this.open.has(node.key)): void {
    if (isOpen) this.open.add(node.key);
    else this.open.delete(node.key);
    this.arrange();
  }

  /** Keys of a tree: right opens a row, then enters it; left closes a row, then leaves it. */
  private press(event: KeyboardEvent): void {
    const node = this.rows[this.lines.active];
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const isOpen = this.open.has(node.key);
    if (event.key === "ArrowRight" && node.children.length > 0 && !isOpen) this.toggle(node, true);
    else if (event.key === "ArrowRight" && isOpen) this.move(this.lines.active + 1);
    else if (event.key === "ArrowLeft" && isOpen) this.toggle(node, false);
    else if (event.key === "ArrowLeft" && node.parent && node.parent.depth >= 0)
      this.move(this.rows.indexOf(node.parent));
    else if (event.key === "*") {
      below(node).forEach((key) => this.open.add(key));
      this.arrange();
    } else if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private move(at: number): void {
    this.choose(at);
    this.lines.reveal(at);
  }

  /** Selects the name in the timeline. */
  private choose(at: number): void {
    this.chosen = this.rows[at] ?? null;
    const { name } = this.chosen ?? {};
    const number = name === undefined || name === null ? undefined : store.state.names.number(name);
    if (number !== undefined) select({ name: number });
    this.writeTools();
  }

  /** The next span of the name in the timeline. */
  private go(at: number): void {
    const name = this.rows[at]?.name ?? null;
    if (name !== null && store.state.names.number(name) !== undefined) reveal({ kind: "step", isBack: false });
    else if (this.rows[at]) this.toggle(this.rows[at]);
  }
}

const NOTHING_THERE = "Nothing with this weight starts in this range.";

function view(): "top" | "bottom" {
  return kept().view === "bottom" ? "bottom" : "top";
}

function sort(): TreeSort {
  const wanted = linkOf("tree")?.sort;
  return (["own", "count"] as const).find((by) => by === wanted) ?? "total";
}

export const tree: Panel = {
  id: "tree",
  title: "Call tree",
  isUseful: (state) => hasTimes(state) || hasMemory(state),
  create: () => fresh((host) => new TreePanel(host)),
};
