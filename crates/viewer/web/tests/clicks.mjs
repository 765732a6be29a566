// Slow spans, leaks, log lines, callers and changes are at most two clicks away from the first picture.

import assert from "node:assert/strict";
import { shows, test, until, Viewer } from "./viewer.mjs";

const MAX_CLICKS = 2;

/// Counts clicks.
class Person {
  clicks = 0;

  constructor(viewer) {
    this.viewer = viewer;
    this.panel = viewer.page.locator("#panel");
  }

  async click(what) {
    this.clicks += 1;
    await what.click();
  }

  /// The buttons of a section of the overview.
  listed(section) {
    return this.viewer.page.getByLabel(section, { exact: true }).locator("button");
  }

  tab(id) {
    return this.viewer.page.locator(`#tabs [data-panel="${id}"]`);
  }
}

/// The first finding leads to the span, or to the function, that it blames.
async function slow(person, viewer) {
  const { findings, slow } = viewer.cli("summary", "--json", viewer.asked.files[0]);
  const [{ message, blamed, rule }] = findings;
  assert.ok(message.includes(blamed), "the finding names what it blames");
  await person.click(person.listed("Worth a look").first());
  const shown = rule === "frame-spike" ? slow[0].name : blamed;
  await person.panel.getByText(shown).first().waitFor();
  await viewer.linkIs(
    "the span or the function is shown",
    ({ name, panels }) => name === shown || panels.source?.sub === shown,
  );
}

/// The first finding leads to what was never freed, and a second click to the flame graph of just that.
async function leaks(person, viewer) {
  const { live_bytes: bytes, sites } = viewer.cli("memory", "--json", "--limit", "1000", ...viewer.asked.files);
  await person.click(person.listed("Worth a look").first());
  const [{ function: name }] = sites.find(({ live }) => live > 0).stack;
  await person.panel.locator("tbody tr[data-at]").first().filter({ hasText: name }).waitFor();
  await person.click(person.panel.getByRole("button", { name: "Flame graph" }));
  await viewer.page.locator('.flamebody[data-shows="leaked top"]').waitFor();
  await viewer.page.locator(".flame").press("Home");
  shows((await viewer.facts("#panel .card dl")).total.split(" · ")[0], bytes, "bytes that were never freed");
}

/// The finding of a log leads to its lines.
async function logged(person, viewer) {
  const [{ message }] = viewer.cli("summary", "--json", viewer.asked.files[0]).logs.first_errors;
  await person.click(person.listed("Worth a look").first());
  await viewer.linkIs("the log is open", ({ panel }) => panel === "log");
  await person.panel.getByText(message).first().waitFor();
}

/// The log next to a slow span is marked at its time.
async function loggedThen(person, viewer) {
  await person.click(viewer.page.locator('.overview [aria-label^="Slow"] button').first());
  const { ts_ns } = await until(
    "the span is selected",
    async () => {
      const { place } = (await viewer.link()) ?? {};
      return place && viewer.span(place);
    },
    Boolean,
  );
  await person.click(person.tab("log"));
  const marked = person.panel.locator('[aria-selected="true"] .when').first();
  await marked.waitFor();
  const seconds = Number((await marked.textContent()).replace(/[^\d.]/g, ""));
  const [{ away }] = viewer.query(`select min(abs(ts_ns - ${ts_ns})) away from logs`, [viewer.asked.files[1]]);
  assert.ok(Math.abs(Math.abs(seconds * 1e9 - ts_ns) - away) < 1e3, `${seconds} s is marked, the span is at ${ts_ns}`);
}

/// A name of the overview leads to the names that call it.
async function callers(person, viewer) {
  const calls = [
    ...viewer.query("select callee, caller from calls_merged where caller is not null"),
    ...viewer.query(`select distinct c.name as callee, p.name as caller from spans c
      join spans p on c.parent_id = p.id and c.trace_id = p.trace_id`),
  ];
  const names = await person.listed("Most self time").allTextContents();
  const at = names.findIndex((name) => calls.some(({ callee }) => callee === name));
  const callersOf = calls.filter(({ callee }) => callee === names[at]).flatMap(({ caller }) => caller);
  assert.ok(callersOf.length > 0, `one of ${names} is called`);
  await person.click(person.listed("Most self time").nth(at));
  await person.panel.getByText(names[at]).first().waitFor();
  const seen = () => Promise.all(callersOf.map((caller) => person.panel.getByText(caller).count()));
  await until(`one of ${callersOf} is shown`, seen, (counts) => counts.some((count) => count > 0));
}

/// A site that allocates leads to its stack.
async function allocators(person, viewer) {
  const { sites } = viewer.cli("memory", "--json", "--limit", "1000", ...viewer.asked.files);
  const { stack } = sites.find(({ live }) => live > 0);
  assert.ok(stack.length > 1, "it is called");
  await person.click(person.listed("Never freed").first());
  await person.click(person.panel.locator("tbody tr[data-at]").first());
  await person.panel.locator(".aside .stack li").nth(1).filter({ hasText: stack[1].function }).waitFor();
}

/// Two traces: the panel of changes has the rows of `diff`.
async function changed(person, viewer) {
  const { rows } = viewer.cli("diff", "--all", "--limit", "2000", "--json", ...viewer.asked.files);
  assert.ok(rows.length > 0, "something can be compared");
  await person.click(person.tab("changes"));
  await person.panel.locator(".changes[data-compared]").waitFor();
  const shown = await viewer.rowsAre("rows are there", (shown) => shown.length > 0);
  assert.ok(shown[0].Name.startsWith(rows[0].name), `${shown[0].Name} is first, ${rows[0].name} expected`);
}

const QUESTIONS = { slow, leaks, logged, loggedThen, callers, allocators, changed };

await test(async (first, { more, url }, browser) => {
  for (const question of more.questions) {
    const viewer = await Viewer.open(browser, url, first.asked);
    await viewer.page.locator(".overview[data-traces]").waitFor();
    const person = new Person(viewer);
    await QUESTIONS[question](person, viewer);
    assert.ok(person.clicks <= MAX_CLICKS, `${question} took ${person.clicks} clicks`);
    assert.deepEqual(viewer.complaints, []);
    await viewer.context.close();
  }
});
