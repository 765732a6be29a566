// The page as a person uses it, for the tests.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { main, until, visit } from "../../../testkit/browser/browser.mjs";

export { until };

/// Runs a test: the page on what the server shows, which must complain of nothing.
export function test(work) {
  return main(async (browser, asked) => {
    const viewer = await Viewer.open(browser, asked.url, asked);
    await work(viewer, asked, browser);
    assert.deepEqual(viewer.complaints, []);
  });
}

export class Viewer {
  constructor(page, context, complaints, asked, pardons = []) {
    Object.assign(this, { page, context, complaints, asked, pardons });
  }

  /// A tab of its own, in a fresh profile; an empty one shows no trace.
  static async open(browser, url, asked, { isEmpty = false, ...options } = {}) {
    const pardons = [];
    const { context, complaints } = await visit(browser, {
      ...options,
      excused: (text) => pardons.some((isPardoned) => isPardoned(text)),
    });
    const viewer = new Viewer(await context.newPage(), context, complaints, asked, pardons);
    await viewer.page.goto(url);
    if (!isEmpty) await viewer.isDrawn();
    return viewer;
  }

  /// Everything is loaded, and the picture shows the view.
  async isDrawn() {
    await this.page.locator('#picture[data-drawn="true"]').waitFor();
  }

  /// What the address says of the view: a link to it.
  link() {
    return this.page.evaluate(() => (location.hash ? JSON.parse(decodeURIComponent(location.hash.slice(1))) : null));
  }

  /// Asks the server as the page does.
  ask(path, query = {}) {
    const address = `api/${path}?${new URLSearchParams(query)}`;
    return this.page.evaluate(async (address) => {
      const token = new URLSearchParams(location.search).get("token") ?? "";
      return (await fetch(address, { headers: { "x-traceloom-token": token } })).json();
    }, address);
  }

  /// What the server says of the traces and tracks.
  state() {
    return this.ask("state");
  }

  /// What the server says of a span.
  span(place) {
    return this.ask("span", place);
  }

  /// Waits until the link says what it should.
  linkIs(what, isRight) {
    return until(
      what,
      () => this.link(),
      (link) => link !== null && isRight(link),
    );
  }

  /// Does something that moves the view, and gives where it was and where it is.
  async moves(what, act, isRight) {
    const before = await this.link();
    await act();
    const after = await this.linkIs(what, (link) => isRight(before, link));
    return [before, after];
  }

  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /// Takes back complaints about a question that the test wanted to fail, now and from now on: just this method and path,
  /// and just this status, or this reason where there was no answer. There has to be one.
  async excuse(method, path, status) {
    const told = typeof status === "number" ? `answered ${status}` : `failed: ${status}`;
    // The browser says it again, without the method.
    const again = typeof status === "number" ? `the server responded with a status of ${status} ` : status;
    const isOwn = (url) => url !== undefined && new URL(url).pathname === `/${path}`;
    const isFailure = (text) => text.startsWith(`${method} `) && text.endsWith(` ${told}`) && isOwn(text.split(" ")[1]);
    const isEcho = (text) =>
      text.startsWith(`error: Failed to load resource: ${again}`) && isOwn(/\((\S+)\)$/.exec(text)?.[1]);
    await until(
      `${method} ${path} ${told}`,
      () => this.complaints,
      (complaints) => complaints.some(isFailure),
    );
    this.pardons.push((text) => isFailure(text) || isEcho(text));
    this.complaints.splice(
      0,
      this.complaints.length,
      ...this.complaints.filter((text) => !isFailure(text) && !isEcho(text)),
    );
  }

  /// Gives the keys to the timeline.
  focus() {
    return this.page.locator("#picture").focus();
  }

  /// Presses the button at one point and lets go at another.
  async drag(from, to) {
    await this.page.mouse.move(...from);
    await this.page.mouse.down();
    await this.page.mouse.move(...to, { steps: 6 });
    await this.page.mouse.up();
  }

  /// Moves the pointer to a bar of a name at a time; `pointer` is then where it is.
  async point(name, ns) {
    const { from, to } = await this.link();
    const box = await this.page.locator("#picture").boundingBox();
    const x = box.x + ((ns - from) / (to - from)) * box.width;
    for (let y = box.y + 24; y < box.y + box.height; y += 6) {
      await this.page.mouse.move(x, y);
      this.pointer = [x, y];
      if ((await this.page.locator("#picture").getAttribute("data-under")) === name) return;
    }
    assert.fail(`no bar of ${name} is at ${ns}`);
  }

  /// The panels that there are.
  tabs() {
    return this.page.locator("#tabs [role=tab]").evaluateAll((tabs) => tabs.map((tab) => tab.dataset.panel));
  }

  /// Opens a panel by its tab.
  async panel(id) {
    const tab = this.page.locator(`#tabs [data-panel="${id}"]`);
    await tab.click();
    await this.page.locator(`#tabs [data-panel="${id}"][aria-selected="true"]`).waitFor();
    return this.page.locator("#panel");
  }

  /// Selects the first span of a name, by the search.
  async selectName(name) {
    await this.focus();
    await this.press("w", "Escape", "0");
    await this.linkIs("nothing is selected", (link) => link.name === null && link.place === null);
    await this.page.locator("#search").fill(name);
    // A page without a server is told by its worker.
    const isAlone = this.asked.more.folder !== undefined;
    const told = isAlone || this.page.waitForResponse((response) => response.url().includes("/api/span?"));
    await this.press("Enter");
    await told;
    await this.linkIs(`${name} is selected`, (link) => link.name === name && link.place);
    await this.page.locator("#search").fill("");
    await this.focus();
  }

  /// Saves a table of the panel and reads it: one object a row, by column.
  async csv(within = this.page.locator("#panel")) {
    const saved = this.page.waitForEvent("download");
    await within.getByRole("button", { name: "CSV" }).first().click();
    const [titles, ...rows] = parseCsv(fs.readFileSync(await (await saved).path(), "utf8"));
    return rows.map((row) => Object.fromEntries(row.map((cell, at) => [titles[at], cell])));
  }

  /// The rows of a table that are in sight: one object a row, by column.
  rows(within = this.page.locator("#panel")) {
    return within
      .locator("table")
      .first()
      .evaluate((table) => {
        const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
        const rows = [...table.tBodies[0].querySelectorAll("tr[data-at]")];
        return rows.map((row) => Object.fromEntries([...row.cells].map((cell, at) => [titles[at], cell.textContent])));
      });
  }

  /// Waits until a table has its rows.
  rowsAre(what, isRight, within) {
    return until(what, () => this.rows(within).catch(() => []), isRight);
  }

  /// Presses one of the buttons of which one is pressed.
  async choose(id) {
    await this.page.locator(`#panel [data-choice="${id}"]`).first().click();
    await this.page.locator(`#panel [data-choice="${id}"][aria-checked="true"]`).first().waitFor();
  }

  /// Terms and what is said of them.
  facts(selector) {
    return this.page
      .locator(selector)
      .first()
      .evaluate((list) =>
        Object.fromEntries(
          [...list.querySelectorAll("dt")].map((term) => {
            const parts = [...term.nextElementSibling.childNodes].filter((part) => part.nodeName !== "SMALL");
            return [term.textContent, parts.map((part) => part.textContent).join("")];
          }),
        ),
      );
  }

  /// What the program prints: one JSON object.
  cli(...words) {
    return JSON.parse(this.print(...words));
  }

  /// What the program answers to a question: one object a row.
  query(sql, files = this.asked.files) {
    const out = this.print("query", "--format", "json", ...files, sql).trim();
    return out === "" ? [] : out.split("\n").map((line) => JSON.parse(line));
  }

  print(...words) {
    const { stdout, stderr, status } = spawnSync(this.asked.program, words, { encoding: "utf8", maxBuffer: 1 << 28 });
    // 1 tells that something is wrong with the trace, which is printed all the same.
    assert.ok(status === 0 || (status === 1 && stdout !== ""), `${words.join(" ")}: ${stderr}`);
    return stdout;
  }
}

const UNITS = {
  ns: 1,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  min: 60e9,
  h: 3600e9,
  d: 86400e9,
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  "%": 0.01,
  "": 1,
};

/// Whether a text such as `48.92 µs` is what a number looks like, to the last digit that it has.
export function isShown(text, value) {
  const [, sign, whole, part = "", unit] =
    /^([-−]?)([\d,]+)(?:\.(\d+))?\s*(ns|µs|ms|s|min|h|d|B|kB|MB|GB|%|)$/.exec(text.trim()) ?? [];
  if (whole === undefined) return false;
  const scale = UNITS[unit];
  const shown = (sign ? -1 : 1) * Number(`${whole.replaceAll(",", "")}.${part}`) * scale;
  return Math.abs(shown - value) <= (scale / 10 ** part.length) * 0.5001;
}

/// Asserts that a text shows a number.
export function shows(text, value, what) {
  assert.ok(isShown(text, value), `${what}: ${text} is shown, ${value} expected`);
}

function parseCsv(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.length > 1 || row[0]);
}
