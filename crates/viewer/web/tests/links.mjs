// Links restore the view; images can be saved; files can be opened and closed.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test, until, Viewer } from "./viewer.mjs";

/// The visible state: the picture, the names on the left, the panel.
async function look(viewer) {
  await viewer.isDrawn();
  return viewer.page.evaluate(() => ({
    picture: document.querySelector("#picture").toDataURL(),
    labels: [...document.querySelectorAll(".label")].map((label) => [label.textContent, label.style.transform]).sort(),
    panel: document.querySelector("#panel").innerText,
    tab: document.querySelector('#tabs [aria-selected="true"]').dataset.panel,
  }));
}

async function linkReopens(viewer, browser, what) {
  const link = await viewer.link();
  await viewer.page.mouse.move(5, 5);
  const seen = await look(viewer);
  const other = await Viewer.open(browser, viewer.page.url(), viewer.asked);
  await until(
    `${what} is the same in another tab`,
    () => look(other),
    (found) => JSON.stringify(found) === JSON.stringify(seen),
  ).catch(async (error) => {
    const found = await look(other);
    for (const key of Object.keys(seen)) assert.deepEqual(found[key], seen[key], `${what}: ${key}`);
    throw error;
  });
  await other.focus();
  await other.press("w", "s");
  const again = await other.linkIs("the link is written again", (found) => found.from !== undefined);
  assert.deepEqual({ ...again, from: 0, to: 0 }, { ...link, from: 0, to: 0 }, `${what}: the link`);
  assert.deepEqual(other.complaints, []);
  await other.context.close();
}

/// A selected span, a folded track, a pinned track, and a filtered panel.
async function linksReopen(viewer, browser) {
  await viewer.selectName("Collide");
  await viewer.press("f");
  const [{ dur_ns: long }] = viewer.query("select dur_ns from spans where name = 'Collide' order by ts_ns limit 1");
  await viewer.linkIs("the span fills the view", ({ from, to, place }) => place && to - from < 2 * long);
  await viewer.panel("selection");
  await viewer.linkIs("the panel is in the link", ({ panel }) => panel === "selection");
  await linkReopens(viewer, browser, "a selected span");
  await viewer.focus();
  await viewer.press("Escape", "0");
  await viewer.page.locator('[data-what="track 1"]').hover();
  await viewer.page.locator('[data-what="pin 1"]').click();
  await viewer.page.locator('[data-what="track 0"]').click();
  const box = await viewer.page.locator("#picture").boundingBox();
  await viewer.drag([box.x + 200, box.y + 8], [box.x + 500, box.y + 8]);
  await viewer.panel("stats");
  await viewer.page.getByLabel("Filter").fill("e");
  await viewer.linkIs(
    "all of it is in the link",
    ({ folded, pinned, range, panel, panels }) =>
      folded.join() === "0" &&
      pinned.join() === "1" &&
      range &&
      panel === "stats" &&
      panels.stats?.table.filter === "e",
  );
  await viewer.rowsAre("and there", (rows) => rows.length > 0 && rows.every((row) => /e/i.test(row.Name)));
  await linkReopens(viewer, browser, "a time range");
}

/// A foreign link changes nothing.
async function oddLinksAreHarmless(viewer, browser) {
  const base = viewer.page.url().split("#")[0];
  const odd = [
    "nonsense",
    "%",
    encodeURIComponent('{"from":1,"to":0}'),
    encodeURIComponent("null"),
    encodeURIComponent(
      JSON.stringify({
        from: 0,
        to: 1e9,
        name: 7,
        panel: "nothing",
        range: ["a", {}],
        tracks: "x",
        place: { track: 99, kind: 9, depth: 9, index: 9 },
        folded: "x",
        hidden: [99],
        pinned: {},
        order: null,
        panels: { stats: 5, flame: { path: [1] }, log: { levels: 3 }, sql: { text: 1 }, memory: "x", source: [] },
      }),
    ),
  ];
  for (const hash of odd) {
    const other = await Viewer.open(browser, `${base}#${hash}`, viewer.asked);
    await other.page.locator("#tabs [role=tab]").first().waitFor();
    for (const id of await other.tabs()) await other.panel(id);
    // The server reports that the requested span does not exist.
    if (hash.includes("99")) await other.excuse("GET", "api/span", 404);
    assert.deepEqual(other.complaints, [], decodeURIComponent(hash === "%" ? "" : hash));
    await other.context.close();
  }
}

/// A saved image is valid, has twice the resolution of the timeline, and is named after its contents.
async function pictureIsSaved(viewer) {
  for (const act of [() => viewer.press("e"), () => viewer.page.getByRole("button", { name: "PNG" }).click()]) {
    await viewer.focus();
    const saved = viewer.page.waitForEvent("download");
    await act();
    assert.match((await saved).suggestedFilename(), /^game\.prof-.+-.+\.png$/);
    const bytes = fs.readFileSync(await (await saved).path());
    assert.equal(bytes.subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n");
    const size = await viewer.page.evaluate(
      async (url) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        const colors = new Set(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer));
        return { width: image.width, height: image.height, colors: colors.size };
      },
      `data:image/png;base64,${bytes.toString("base64")}`,
    );
    const box = await viewer.page.locator("#timeline").boundingBox();
    assert.ok(
      Math.abs(size.width - 2 * box.width) <= 2 && Math.abs(size.height - 2 * box.height) <= 2,
      `${JSON.stringify(size)}, ${JSON.stringify(box)}`,
    );
    assert.ok(size.colors > 10, `${size.colors} colors are no picture`);
  }
}

/// Drops a file on the page.
async function drop(viewer, name, bytes) {
  const data = await viewer.page.evaluateHandle(
    ([name, bytes]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name));
      return transfer;
    },
    [name, bytes.toString("base64")],
  );
  await viewer.page.dispatchEvent("body", "dragenter", { dataTransfer: data });
  await viewer.page.locator("#shade").waitFor();
  await viewer.page.dispatchEvent("body", "drop", { dataTransfer: data });
  await viewer.page.locator("#shade").waitFor({ state: "hidden" });
}

/// A file that is not a trace leaves a message that can be closed, and nothing else.
async function wrongFileIsRefused(viewer) {
  await drop(viewer, "notes.txt", Buffer.from("hello just some notes"));
  const toast = viewer.page.locator(".toast").filter({ hasText: "notes.txt" });
  await toast.waitFor();
  await viewer.excuse("POST", "api/open", 422);
  await toast.getByRole("button", { name: "Close" }).click();
  await toast.waitFor({ state: "detached" });
  assert.equal(await viewer.page.getByText("notes.txt").count(), 0, "nothing of it is left");
}

/// A trace is closed by its heading, and the other one stays.
async function traceIsClosed(viewer, file) {
  const name = path.basename(file);
  const spans = async () => (await viewer.csv()).reduce((sum, row) => sum + Number(row.Spans), 0);
  const before = await spans();
  await viewer.page.locator(".label.group").filter({ hasText: name }).getByRole("button", { name: "× Close" }).click();
  await until(
    "the trace is gone",
    () => viewer.page.locator("#traces").textContent(),
    (text) => !text.includes(name),
  );
  await until("and its spans are", spans, (left) => left > 0 && left < before);
}

/// Back restores the view before a jump.
async function backLeadsBack(viewer) {
  await viewer.focus();
  await viewer.press("Escape", "0");
  await viewer.panel("selection");
  const before = await viewer.linkIs(
    "nothing is selected",
    ({ panel, name }) => panel === "selection" && name === null,
  );
  await viewer.panel("stats");
  await viewer.linkIs("the panel is in the link", ({ panel }) => panel === "stats");
  await viewer.page.goBack();
  await viewer.linkIs("Back opens the panel before", ({ panel }) => panel === before.panel);
  await viewer.page.locator("#tabs [data-panel=selection][aria-selected=true]").waitFor();
  await viewer.page.goForward();
  await viewer.linkIs("and Forward the other", ({ panel }) => panel === "stats");
}

/// Back and Forward restore view and selection around the jump to a search hit, and around a zoom.
async function backRestoresTheView(viewer) {
  const { page } = viewer;
  await viewer.focus();
  await viewer.press("Escape", "0");
  await viewer.panel("selection");
  await page.locator("#search").fill("Collide");
  const hit = page.locator("#names [role=option]").filter({ hasText: "Collide" }).first();
  await hit.waitFor();
  await viewer.linkIs("everything is shown", ({ from, panel, name }) => from <= 0 && panel === "selection" && !name);
  const seen = async () => {
    await page.mouse.move(5, 5);
    const { from, to, place } = await viewer.link();
    return { from, to, place, ...(await look(viewer)) };
  };
  const steps = [await seen()];
  await hit.click();
  await viewer.linkIs("the hit is selected", ({ name, place }) => name === "Collide" && place);
  await page.locator("#panel .way b").filter({ hasText: "Collide" }).waitFor();
  steps.push(await seen());
  await viewer.focus();
  await viewer.press("f");
  const long = steps[1].to - steps[1].from;
  await viewer.linkIs("the hit fills the view", ({ from, to }) => to - from < long / 8);
  steps.push(await seen());
  for (const [act, at] of [
    ["goBack", 1],
    ["goForward", 2],
    ["goBack", 1],
    ["goBack", 0],
  ]) {
    await page[act]();
    await until(`${act} leads to step ${at}`, seen, (now) => JSON.stringify(now) === JSON.stringify(steps[at]));
  }
  await page.locator("#search").fill("");
}

/// A link with a view, a range and a name, as the tool `link` writes it: the rest stays, and the URL follows again.
async function shortLinkIsFollowed(viewer) {
  const { page } = viewer;
  const [{ ts_ns: start, dur_ns: long }] = viewer.query(
    "select ts_ns, dur_ns from spans where name = 'Collide' order by ts_ns limit 1",
  );
  const short = { from: start, to: start + 10 * long, range: [start, start + long], name: "Collide" };
  await viewer.focus();
  await viewer.press("Escape", "0");
  await viewer.panel("stats");
  const before = await viewer.linkIs("nothing is selected", ({ panel, name }) => panel === "stats" && name === null);
  await page.evaluate((link) => (location.hash = encodeURIComponent(JSON.stringify(link))), short);
  const { from, to, range, name } = await viewer.linkIs("the panel stays open", ({ panel }) => panel === "stats");
  assert.deepEqual({ from, to, range, name }, short);
  await viewer.choose("selection");
  await viewer.rowsAre("its range is counted", (rows) =>
    rows.some((row) => row.Name === "Collide" && row.Calls === "1"),
  );
  await viewer.focus();
  await viewer.press("d");
  await viewer.linkIs("the URL follows the view", (link) => link.from > from && link.to - link.from === to - from);
  await page.goBack();
  await viewer.linkIs("Back leads to the view before", (link) => link.from === before.from && link.to === before.to);
}

/// A dropped file is shown next to the first one, and can be moved.
async function dropIsOpened(viewer, file) {
  const name = path.basename(file);
  await drop(viewer, name, fs.readFileSync(file));
  await viewer.page.locator("#traces").filter({ hasText: name }).waitFor();
  await viewer.isDrawn();
  const groups = viewer.page.locator(".label.group");
  await until(
    "both traces have their headings",
    () => groups.allTextContents(),
    (shown) => shown.some((text) => text.includes(name)) && shown.length >= 2,
  );
  const { threads } = viewer.cli("stats", "--json", ...viewer.asked.files, file);
  const spans = threads.reduce((sum, row) => sum + row.spans, 0);
  await viewer.panel("stats");
  await viewer.choose("threads");
  await until(
    `both are counted, ${spans} spans`,
    async () => (await viewer.csv()).reduce((sum, row) => sum + Number(row.Spans), 0),
    (sum) => sum === spans,
  );
  const offset = viewer.page.locator(".label.group").filter({ hasText: name }).locator('[data-what^="offset"]');
  await offset.click();
  const dialog = viewer.page.getByRole("dialog");
  await dialog.getByLabel("Offset").fill("250ms");
  await viewer.press("Enter");
  await until(
    "a trace is moved",
    () => offset.textContent(),
    (text) => text === "+ 250 ms",
  );
  await viewer.linkIs("and the link has it there", ({ offsets }) => offsets.includes(250e6));
}

await test(async (viewer, { more }, browser) => {
  await pictureIsSaved(viewer);
  await linksReopen(viewer, browser);
  await oddLinksAreHarmless(viewer, browser);
  await viewer.focus();
  await viewer.press("Escape", "0");
  await backLeadsBack(viewer);
  await backRestoresTheView(viewer);
  await shortLinkIsFollowed(viewer);
  await wrongFileIsRefused(viewer);
  await dropIsOpened(viewer, more.other);
  await traceIsClosed(viewer, more.other);
});
