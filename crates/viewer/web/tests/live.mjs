// Live traces: a running program, and a file that is being written.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { main } from "../../../testkit/browser/browser.mjs";
import { until, Viewer } from "./viewer.mjs";

const started = [];

function start(program, words, env = {}) {
  const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  return child;
}

/// Serves a live trace; returns the address of its page.
async function serve(asked, ...words) {
  const server = start(asked.program, ["view", "--no-open", "--port", "0", ...words]);
  const [first] = await once(server.stdout, "data");
  return String(first).trim();
}

/// The running program, as soon as it is ready.
async function watched({ more }, socket) {
  const [program, ...words] = more.watched;
  const child = start(program, words, { TRACELOOM_WATCHED: socket });
  await until(
    "the program serves",
    () => fs.existsSync(`${socket}.token`) && fs.existsSync(socket),
    (isThere) => isThere,
  );
  return child;
}

const live = (viewer) => viewer.page.locator("#live").textContent();
const follows = (viewer) => viewer.page.locator("#follow").getAttribute("aria-pressed");
const link = (viewer) => viewer.linkIs("there is a view", ({ to }) => to > 0);

/// The end of the view moves automatically.
async function grows(viewer) {
  const { to } = await link(viewer);
  await viewer.linkIs("the view follows the end", (link) => link.to > to + 2e8);
}

/// The view stays where it is, while the trace grows.
async function stays(viewer, calls) {
  // The link is updated shortly after the view moves.
  const twice = async () => {
    const { to } = await link(viewer);
    await viewer.page.waitForTimeout(500);
    return [to, (await link(viewer)).to];
  };
  const [to] = await until("the view is still", twice, ([one, other]) => one === other);
  const had = await calls();
  await until("the trace grows", calls, (has) => has > had + 50);
  assert.equal((await link(viewer)).to, to);
}

/// The number of log lines, which grows with the trace.
const lines = (viewer) => async () => {
  const text = await viewer.page.locator('#panel [role="status"]').first().textContent();
  return Number(/([\d,]+) lines/.exec(text)?.[1].replaceAll(",", "") ?? -1);
};

async function follows_and_pauses(viewer) {
  await grows(viewer);
  assert.equal(await live(viewer), "live");
  assert.equal(await follows(viewer), "true");
  await viewer.panel("log");
  await until("the log has lines", lines(viewer), (count) => count > 0);
  await viewer.page.locator("#follow").click();
  assert.equal(await live(viewer), "live, paused");
  await stays(viewer, lines(viewer));
  await viewer.focus();
  await viewer.press("l");
  await grows(viewer);
  assert.equal(await live(viewer), "live");
  // Moving the view stops following.
  await viewer.press("w");
  await until(
    "it does not follow",
    () => follows(viewer),
    (pressed) => pressed === "false",
  );
  await stays(viewer, lines(viewer));
}

async function panels_answer(viewer) {
  const { page } = viewer;
  await page.locator("#panel .logline").filter({ hasText: "frame" }).first().waitFor();
  await page.locator("#panel .chip").filter({ hasText: /WARN/i }).first().waitFor();
  await page.locator(".label").filter({ hasText: "load" }).first().waitFor();
  await viewer.panel("stats");
  const named = (name) => (rows) => rows.some((row) => Object.values(row).some((cell) => cell === name));
  for (const name of ["Frame", "Simulate", "Collide"]) await viewer.rowsAre(`${name} has statistics`, named(name));
  await viewer.panel("flame");
  await page.locator("#panel canvas, #panel svg").first().waitFor();
  await viewer.selectName("Collide");
  await viewer.press("Escape");
}

async function program(asked, browser) {
  const { folder } = asked.more;
  const socket = path.join(folder, "live.sock");
  const child = await watched(asked, socket);
  const url = await serve(asked, "--live", socket, "-o", path.join(folder, "seen.wtf-trace"));
  const viewer = await Viewer.open(browser, url, asked);
  await follows_and_pauses(viewer);
  await panels_answer(viewer);
  child.kill("SIGKILL");
  await until(
    "the page says that the program is gone",
    () => live(viewer),
    (text) => text.includes("reconnecting; showing the data received so far"),
  );
  await viewer.selectName("Simulate");
  await viewer.press("Escape", "l");
  await watched(asked, socket);
  await until(
    "the program is back",
    () => live(viewer),
    (text) => text.startsWith("live"),
  );
  if ((await follows(viewer)) === "false") await viewer.page.locator("#follow").click();
  await grows(viewer);
  assert.ok(fs.existsSync(path.join(folder, "seen-2.wtf-trace")));
  return viewer;
}

async function memory(asked, browser) {
  const { folder, whole } = asked.more;
  const [growing, bytes] = [path.join(folder, "growing.mlyze"), fs.readFileSync(whole)];
  fs.writeFileSync(growing, bytes.subarray(0, bytes.length / 2));
  const viewer = await Viewer.open(browser, await serve(asked, "--live", growing), asked);
  await viewer.panel("memory");
  const { to } = await link(viewer);
  fs.appendFileSync(growing, bytes.subarray(bytes.length / 2));
  await viewer.linkIs("the view follows the end", (link) => link.to > to);
  await viewer.page.locator("#panel canvas, #panel svg").first().waitFor();
  return viewer;
}

await main(async (browser, asked) => {
  try {
    const viewer = await { program, memory }[asked.more.check](asked, browser);
    assert.deepEqual(viewer.complaints, []);
  } finally {
    for (const child of started) child.kill("SIGKILL");
  }
});
