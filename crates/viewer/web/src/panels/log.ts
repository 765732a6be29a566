// The log, however long: only the lines in sight are asked for.

import { ask, type LogPart } from "../api";
import { moment } from "../format";
import { store } from "../store";
import { levelColor } from "../theme";
import { element, failure, type Panel } from "./panel";

const LINE = 18;
const kept = { levels: "", text: "" };

export const log: Panel = {
  id: "log",
  title: "Log",
  isUseful: () => store.state.logs > 0,
  async show(host) {
    const text = element("input", { type: "search", placeholder: "Text", "aria-label": "Text in the log", value: kept.text });
    const levels = element("input", { placeholder: "Levels: WARN,ERROR", "aria-label": "Levels", value: kept.levels });
    const counted = element("span", { class: "note" });
    const space = element("div", { style: "position: relative" });
    const view = element("div", { style: "overflow: auto; height: calc(100% - 34px)", tabindex: "0", "aria-label": "Log lines" }, space);
    host.append(element("div", { class: "tools" }, text, levels, counted), view);
    let latest = 0;
    const fill = async (): Promise<void> => {
      const number = ++latest;
      const skip = Math.max(0, Math.floor(view.scrollTop / LINE) - 5);
      const take = Math.ceil(view.clientHeight / LINE) + 10;
      const part = await ask<LogPart>("log", { skip, take, levels: kept.levels, text: kept.text });
      if (number !== latest) return;
      counted.textContent = `${part.total} lines`;
      space.style.height = `${part.total * LINE}px`;
      space.replaceChildren(...part.lines.map((line, at) => row(line, (skip + at) * LINE)));
    };
    const search = (): void => {
      Object.assign(kept, { text: text.value, levels: levels.value.trim() });
      view.scrollTop = 0;
      void fill();
    };
    text.addEventListener("input", search);
    levels.addEventListener("input", search);
    view.addEventListener("scroll", () => void fill());
    try {
      const at = Math.round(store.selection.range?.from ?? store.selection.span?.ts_ns ?? store.view.from);
      const place = await ask<LogPart>("log", { take: 0, levels: kept.levels, text: kept.text, at });
      space.style.height = `${place.total * LINE}px`;
      view.scrollTop = (place.at ?? 0) * LINE;
      await fill();
    } catch (error) {
      host.append(failure(error));
    }
  },
};

function row(line: LogPart["lines"][number], top: number): HTMLElement {
  const [, ts, level, file, number, text] = line;
  const when = element("span", { class: "note" }, ts === null ? "" : moment(ts));
  const what = element("span", { style: `color: ${levelColor(level)}` }, ` ${level} `);
  const where = element("span", { class: "note" }, file ? `  ${file}:${number ?? ""}` : "");
  const made = element("div", { class: "code", style: `position: absolute; top: ${top}px; height: ${LINE}px`, tabindex: "0" }, when, what, text, where);
  const jump = (): void => {
    if (ts === null) return;
    const half = (store.view.to - store.view.from) / 2;
    store.look(ts - half, ts + half);
  };
  made.addEventListener("click", jump);
  made.addEventListener("keydown", (event) => event.key === "Enter" && jump());
  return made;
}
