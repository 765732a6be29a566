// Steps that narrow down stacks, as buttons for a name and as breadcrumbs.

import { element } from "../widgets/dom";
import type { GraphStep } from "../wire";
import { keep, kept } from "./kept";

const KINDS: readonly { kind: GraphStep["kind"]; title: string; hint: string }[] = [
  { kind: "focus", title: "Focus", hint: "Show only the calls made by this name" },
  { kind: "collapse", title: "Collapse", hint: "Add everything that this name calls to its self weight" },
  { kind: "merge", title: "Merge", hint: "Remove this name and add its self weight to its callers" },
  { kind: "drop", title: "Drop", hint: "Remove all stacks that contain this name" },
];

/** Buttons that add a step about a name. */
export function stepTools(name: string | null, changed: () => void): HTMLElement {
  const host = element("span", { class: "within", role: "group", "aria-label": "Narrow down" });
  for (const { kind, title, hint } of KINDS) {
    const button = element("button", { type: "button", title: name === null ? hint : `${hint}: ${name}` }, title);
    button.dataset["choice"] = kind;
    button.disabled = name === null;
    button.addEventListener("click", () => {
      if (name !== null) keep({ steps: [...kept().steps, { kind, name }], path: [] });
      changed();
    });
    host.append(button);
  }
  return host;
}

/** One breadcrumb per step; a click goes back to it. */
export function stepCrumbs(changed: () => void): HTMLElement[] {
  const { steps } = kept();
  const back = (length: number): void => {
    keep({ steps: steps.slice(0, length), path: [] });
    changed();
  };
  return ["Everything", ...steps.map(({ kind, name }) => `${kind} ${name}`)].map((text, length) => {
    const crumb = element("button", { type: "button", title: text }, text);
    crumb.addEventListener("click", () => back(length));
    return crumb;
  });
}
