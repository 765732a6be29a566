// Details of one trace of a store.

import { bytes, count, duration } from "../../format";
import { element, facts, note } from "../../widgets/dom";
import { StoredFinding, StoredRow, type StoredDetails } from "../../wire";
import { entries, startOf } from "./words";

export function details(known: StoredDetails, columns: readonly string[], open: () => void): HTMLElement[] {
  const { row, findings, all_findings, source, refusal } = known;
  const length = row[StoredRow.duration_ns];
  const made = [
    element("h2", {}, row[StoredRow.path]),
    facts([
      ...row[StoredRow.tags].map((tag, at) => [columns[at] ?? "", tag] as const),
      ["Start", startOf(row)],
      ["Duration", length === null ? "" : duration(length)],
      ["Contents", entries(row)],
      ["Size", bytes(row[StoredRow.bytes])],
      ["Source", source ?? ""],
      ["Id", row[StoredRow.id]],
    ]),
  ];
  if (refusal === null) {
    const button = element("button", { type: "button", class: "primary", title: "Enter" }, "Open");
    button.addEventListener("click", open);
    made.push(element("p", {}, button));
  } else made.push(element("p", { class: "refusal" }, `${refusal.slice(0, 1).toUpperCase()}${refusal.slice(1)}.`));
  if (findings.length > 0) {
    made.push(element("h2", {}, "Problems"), element("ul", { class: "plain" }, ...findings.map(listed)));
  }
  if (all_findings > findings.length) made.push(note(`${count(all_findings - findings.length)} more.`));
  return made;
}

function listed(finding: StoredFinding): HTMLElement {
  const severity = finding[StoredFinding.severity];
  return element(
    "li",
    { class: `is-${severity}` },
    element("span", { class: "badge" }, severity),
    ` ${finding[StoredFinding.message]} `,
    element("code", { class: "note" }, finding[StoredFinding.code]),
  );
}
