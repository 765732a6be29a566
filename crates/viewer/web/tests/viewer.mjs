// Drives the page like a user, for the tests.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { main, until, visit } from "../../../testkit/browser/browser.mjs";

export { until };

/// Runs a test on the page of a server; the page must not report errors.
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

  /// A new tab in a fresh profile; an empty one shows no trace.
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

  /// The link to the view in the URL.
  link() {
    return this.page.evaluate(() => (location.hash ? JSON.parse(decodeURIComponent(location.hash.slice(1))) : null));
  }

  /// Sends a request to the server, as the page does.
  ask(path, query = {}) {
    const address = `api/${path}?${new URLSearchParams(query)}`;
    return this.page.evaluate(async (address) => {
      const token = new URLSearchParams(location.search).get("token") ?? "";
      return (await fetch(address, { headers: { "x-traceloom-token": token } })).json();
    }, address);
  }

  /// The traces and tracks from the server.
  state() {
    return this.ask("state");
  }

  /// A span from the server.
  span(place) {
    return this.ask("span", place);
  }

  /// Waits until the link satisfies a condition.
  linkIs(what, isRight) {
    return until(
      what,
      () => this.link(),
      (link) => link !== null && isRight(link),
    );
  }

  /// Runs an action that moves the view; returns the view before and after.
  async moves(what, act, isRight) {
    const before = await this.link();
    await act();
    const after = await this.linkIs(what, (link) => isRight(before, link));
    return [before, after];
  }

  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /// Ignores errors of a request that the test expects to fail, now and later: only this method and path, and only this
  /// status, or this reason if there was no answer. There must be one.
  async excuse(method, path, status) {
    const told = typeof status === "number" ? `answered ${status}` : `failed: ${status}`;
    // The browser reports it again, without the method.
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

  /// Gives the focus to the timeline.
  focus() {
    return this.page.locator("#picture").focus();
  }

  /// Drags from one point to another.
  async drag(from, to) {
    await this.page.mouse.move(...from);
    await this.page.mouse.down();
    await this.page.mouse.move(...to, { steps: 6 });
    await this.page.mouse.up();
  }

  /// Moves the pointer to a bar of a name at a time; `pointer` is then its position.
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

  /// The names of the tracks, from top to bottom.
  heads() {
    return this.page.evaluate(() => {
      const labels = [...document.querySelectorAll(".label.head")];
      const top = (label) => label.getBoundingClientRect().top;
      return labels
        .sort((one, other) => top(one) - top(other))
        .map((label) => label.querySelector("[role=button]").title);
    });
  }

  /// Waits until these are the names of the tracks.
  headsAre(what, expected) {
    return until(
      what,
      () => this.heads(),
      (found) => found.join("\n") === expected.join("\n"),
    );
  }

  /// The available panels.
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

  /// Selects the first span of a name through the search.
  async selectName(name) {
    await this.focus();
    await this.press("w", "Escape", "0");
    await this.linkIs("nothing is selected", (link) => link.name === null && link.place === null);
    await this.page.locator("#search").fill(name);
    // A page without a server gets the answer from its worker.
    const isAlone = this.asked.more.folder !== undefined;
    const told = isAlone || this.page.waitForResponse((response) => response.url().includes("/api/span?"));
    await this.press("Enter");
    await told;
    await this.linkIs(`${name} is selected`, (link) => link.name === name && link.place);
    await this.page.locator("#search").fill("");
    await this.focus();
  }

  /// Clicks a button that saves a text file; returns its name and its contents.
  async saves(button) {
    const saved = this.page.waitForEvent("download");
    await button.click();
    const file = await saved;
    return { name: file.suggestedFilename(), text: fs.readFileSync(await file.path(), "utf8") };
  }

  /// Saves a picture of the panel; returns its texts.
  async svg(name) {
    const saved = await this.saves(this.page.locator("#panel").getByRole("button", { name: "SVG", exact: true }));
    assert.equal(saved.name, name);
    assert.ok(saved.text.startsWith("<svg "), saved.text.slice(0, 100));
    return this.page.evaluate((text) => {
      const { documentElement: root } = new DOMParser().parseFromString(text, "image/svg+xml");
      return root.tagName === "svg" ? [...root.querySelectorAll("text, title")].map((part) => part.textContent) : null;
    }, saved.text);
  }

  /// Saves a table of the panel and reads it: one object per row, by column.
  async csv(within = this.page.locator("#panel")) {
    const { text } = await this.saves(within.getByRole("button", { name: "CSV" }).first());
    const [titles, ...rows] = parseCsv(text);
    return rows.map((row) => Object.fromEntries(row.map((cell, at) => [titles[at], cell])));
  }

  /// The visible rows of a table: one object per row, by column.
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

  /// Presses a button of a switch.
  async choose(id) {
    await this.page.locator(`#panel [data-choice="${id}"]`).first().click();
    await this.page.locator(`#panel [data-choice="${id}"][aria-checked="true"]`).first().waitFor();
  }

  /// Terms and their descriptions.
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

  /// The output of the program: one JSON object.
  cli(...words) {
    return JSON.parse(this.print(...words));
  }

  /// The result of a query by the program: one object per row.
  query(sql, files = this.asked.files) {
    const out = this.print("query", "--format", "json", ...files, sql).trim();
    return out === "" ? [] : out.split("\n").map((line) => JSON.parse(line));
  }

  print(...words) {
    const { stdout, stderr, status } = spawnSync(this.asked.program, words, { encoding: "utf8", maxBuffer: 1 << 28 });
    // Exit code 1 means that the trace has problems; the output is still complete.
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

/// Whether a text such as `48.92 µs` shows a number, to the last digit of the text.
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
