// Error messages.

import assert from "node:assert/strict";
import { test, until, Viewer } from "./viewer.mjs";

/// Without the token of this run, the page shows only one helpful sentence.
async function wrongTokenIsExplained(viewer, browser) {
  const { url } = viewer.asked;
  for (const address of [url.replace(/token=.*/, "token=0123456789abcdef"), url.replace(/\?.*/, "")]) {
    const other = await Viewer.open(browser, address, viewer.asked, { isEmpty: true });
    await other.page.getByRole("alert").filter({ hasText: "Open the address that traceloom printed" }).waitFor();
    assert.equal(await other.page.locator(".label").count(), 0, "nothing of the trace is shown");
    await other.excuse("GET", "api/state", 401);
    assert.deepEqual(other.complaints, []);
    await other.context.close();
  }
}

/// Readable data is shown, and problems are reported.
async function damageIsTold(viewer, { damaged, broken }) {
  const findings = viewer.cli("check", "--json", damaged).finding_counts;
  assert.ok(Object.keys(findings).length > 0, "the file is damaged");
  const problems = Object.values(findings).reduce((sum, times) => sum + times, 0);
  const badge = viewer.page.locator('#tabs [data-panel="findings"] .badge');
  await badge.filter({ hasText: problems.toLocaleString("en-US") }).waitFor();
  await viewer.panel("findings");
  const wrong = viewer.page.getByLabel("Problems in the file");
  for (const [code, times] of Object.entries(findings)) {
    const card = wrong.locator("article").filter({ has: viewer.page.locator("header code", { hasText: code }) });
    await card.first().waitFor();
    if (times > 1)
      await card
        .getByText(`${times.toLocaleString("en-US")} times`)
        .first()
        .waitFor();
  }
  const failed = broken.split("/").pop();
  await wrong
    .locator("article")
    .filter({ hasText: `${failed} cannot be read` })
    .waitFor();
  const alert = viewer.page.getByRole("alert").filter({ hasText: failed });
  await alert.waitFor();
  assert.ok((await viewer.page.locator(".label.head").count()) > 0, "the other trace is shown");
  assert.equal(await viewer.page.locator(".label.group").filter({ hasText: failed }).count(), 0, "it has no track");
  await alert.getByRole("button", { name: "Close" }).click();
  await alert.waitFor({ state: "hidden" });
}

/// The axis covers every table, and going beyond it reports where the trace ends.
async function axisCoversEverything(viewer, { damaged }) {
  const [{ last }] = viewer.query("select max(ts_ns + dur_ns) last from switches", [damaged]);
  const [{ spans }] = viewer.query("select max(ts_ns + dur_ns) spans from spans", [damaged]);
  assert.ok(last > spans, "threads were switched after the last span");
  await viewer.focus();
  await viewer.press("0");
  await viewer.linkIs("the view reaches over the switches", ({ to }) => to >= last);
  await viewer.press("g");
  await viewer.page.getByRole("dialog").getByLabel("Time").fill("999s");
  await viewer.press("Enter");
  const toast = viewer.page.locator(".toast");
  await toast.filter({ hasText: /^The traces? ends? at / }).waitFor();
  await toast.getByRole("button", { name: "Close" }).click();
  await toast.waitFor({ state: "detached" });
}

/// A stopped server is noticed; the contents stay.
async function endIsNoticed(viewer) {
  await viewer.context.route("**/api/**", (route) => route.abort("connectionrefused"));
  await viewer.page.getByRole("alert").filter({ hasText: "The server has stopped" }).waitFor();
  await viewer.panel("definitions");
  await viewer.page.locator("#panel .error").filter({ hasText: "The server has stopped" }).waitFor();
  assert.ok((await viewer.page.locator(".label.head").count()) > 0, "what was shown stays");
  await viewer.context.unroute("**/api/**");
  await until(
    "and goes on when it is back",
    () => viewer.page.getByRole("alert").filter({ hasText: "The server has stopped" }).count(),
    (count) => count === 0,
  );
  await viewer.excuse("GET", "api/state", "net::ERR_CONNECTION_REFUSED");
  await viewer.excuse("GET", "api/definitions", "net::ERR_CONNECTION_REFUSED");
}

await test(async (viewer, { more }, browser) => {
  await wrongTokenIsExplained(viewer, browser);
  await damageIsTold(viewer, more);
  await axisCoversEverything(viewer, more);
  await endIsNoticed(viewer);
});
