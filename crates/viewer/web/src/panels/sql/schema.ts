// Tables and columns for queries, and example queries.

import { ask } from "../../api";
import { store } from "../../store";
import { element, failure } from "../../widgets/dom";
import { SqlExample, type Schema } from "../../wire";

export class SchemaList {
  readonly host = element("aside", { class: "aside schema", "aria-label": "Tables" });
  readonly examples = element("select", { "aria-label": "Examples", title: "Queries to start with" });
  private asked = "";
  private answer: Schema | null = null;

  constructor(
    private readonly insert: (name: string) => void,
    private readonly run: (sql: string) => void,
  ) {
    this.examples.addEventListener("change", () => {
      if (this.examples.value !== "") this.run(this.examples.value);
      this.examples.selectedIndex = 0;
    });
  }

  /** The first example. */
  get first(): string {
    return this.answer?.examples[0]?.[SqlExample.sql] ?? "";
  }

  async update(): Promise<void> {
    const asked = store.state.server.traces.map((trace) => trace.state).join();
    if (asked === this.asked) return;
    this.asked = asked;
    try {
      this.answer = await ask("sql/schema", {});
    } catch (error) {
      this.asked = "";
      return this.host.replaceChildren(failure(error));
    }
    const { tables, views, examples } = this.answer;
    const options = examples.map(([title, sql]) => element("option", { value: sql, title: sql }, title));
    this.examples.replaceChildren(element("option", { value: "" }, "Examples"), ...options);
    this.host.replaceChildren(
      ...tables.map(({ name, about, columns }) =>
        this.relation(
          name,
          about,
          columns.map(([column, type, what, isNullable, target]) => ({
            column,
            type: `${type}${isNullable ? "?" : ""}${target ? ` → ${target}` : ""}`,
            what,
          })),
        ),
      ),
      element("h2", {}, "Views"),
      ...views.map(({ name, columns }) =>
        this.relation(
          name,
          "",
          columns.map((column) => ({ column, type: "", what: "" })),
        ),
      ),
    );
  }

  private relation(
    name: string,
    about: string,
    columns: { column: string; type: string; what: string }[],
  ): HTMLElement {
    const list = element("ul");
    for (const { column, type, what } of columns) {
      const button = element("button", { type: "button", class: "link", title: what || `Insert ${column}` }, column);
      button.addEventListener("click", () => this.insert(column));
      list.append(element("li", {}, button, element("small", { class: "note" }, type)));
    }
    const add = element(
      "button",
      { type: "button", class: "mini", title: `Insert ${name}`, "aria-label": `Insert ${name}` },
      "+",
    );
    add.addEventListener("click", (event) => {
      event.preventDefault();
      this.insert(name);
    });
    const head = element("summary", { title: about }, element("span", {}, name), add);
    return element("details", {}, head, list);
  }
}
