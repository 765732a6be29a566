// A browser for tests: it connects only to this machine, and records every error of a page.
//
// A script gets one JSON object on standard input and calls `main`; it fails by throwing.

import { createRequire } from 'node:module';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const { chromium } = createRequire(path.join(process.env.TRACELOOM_MODULES, 'package.json'))('playwright-core');

const ARGUMENTS = [
  '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
  // Text is drawn the same on every machine, and a hidden page is not slowed down.
  '--font-render-hinting=none', '--disable-backgrounding-occluded-windows', '--disable-renderer-backgrounding',
];

/// How long to wait for anything, in ms: far longer than needed, so that only a failure reaches it.
export const PATIENCE = 30_000;

const isHere = (url) => /^(data|blob|about|file):/.test(url) || ['127.0.0.1', 'localhost'].includes(new URL(url).hostname);

/// Runs a script with the input from the test, and always ends the browser.
export async function main(work) {
  const asked = JSON.parse(fs.readFileSync(0, 'utf8'));
  const browser = await chromium.launch({ executablePath: process.env.TRACELOOM_CHROMIUM, args: ARGUMENTS });
  try {
    await work(browser, asked);
  } finally {
    await browser.close();
  }
}

/// A fresh browser profile whose pages record their errors.
///
/// `excused` decides which errors are known errors of the page itself.
export async function visit(browser, { excused = () => false, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 }, locale: 'en-US', timezoneId: 'UTC', serviceWorkers: 'block', ...options,
  });
  context.setDefaultTimeout(PATIENCE);
  const complaints = [];
  const complain = (text) => { if (!excused(text)) complaints.push(text); };
  await context.route((url) => !isHere(url.href), (route) => {
    complain(`asked for ${route.request().url()}`);
    return route.abort();
  });
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`the policy forbids ${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
    });
  });
  context.on('page', (page) => {
    page.on('console', (message) => {
      const where = message.location().url;
      if (['error', 'warning'].includes(message.type())) complain(`${message.type()}: ${message.text()} (${where})`);
    });
    page.on('pageerror', (error) => complain(`uncaught: ${error.stack ?? error}`));
    page.on('crash', () => complain('the page crashed'));
    page.on('dialog', (dialog) => {
      complain(`dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    page.on('requestfailed', (request) => {
      // A page cancels requests that it no longer needs.
      const why = request.failure()?.errorText;
      if (why !== 'net::ERR_ABORTED') complain(`${request.method()} ${request.url()} failed: ${why}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) complain(`${response.request().method()} ${response.url()} answered ${response.status()}`);
    });
  });
  return { context, complaints };
}

/// Waits until a value is as expected; fails with the last value.
export async function until(what, value, isRight) {
  const end = Date.now() + PATIENCE;
  for (let pause = 5; ; pause = Math.min(2 * pause, 100)) {
    const found = await value();
    if (isRight(found)) return found;
    if (Date.now() > end) throw new Error(`${what}: still ${JSON.stringify(found)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

const KINDS = {
  '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json',
  '.png': 'image/png', '.txt': 'text/plain', '.wasm': 'application/wasm', '.woff2': 'font/woff2',
};

/// Serves the files of a folder until the script ends; `own` answers for the paths that it names.
export async function serve(folder, own = {}) {
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    if (own[name]) return own[name](response);
    sendFile(response, path.join(folder, name.endsWith('/') ? `${name}index.html` : name));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}

/// Answers with a file.
export function sendFile(response, file) {
  if (!fs.existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': KINDS[path.extname(file)] ?? 'application/octet-stream' });
  fs.createReadStream(file).pipe(response);
}
