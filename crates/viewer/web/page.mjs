// Builds the page without a server: `node page.mjs GLUE.js ROUTER.wasm FOLDER`; `cargo xtask page` calls it.
//
// The folder is for any static host, and for a browser that opens its index.html as a file: classic scripts only, the
// router inside one of them. `traceloom-page.html` is all of it in one file, with a mark where a trace can be put in.

import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import zlib from "node:zlib";
import { build } from "vite";

/// Max number of bytes that a browser loads from a static host, in gzip.
const MAX_BYTES = 2_000_000;

const [glue, wasm, folder] = process.argv.slice(2);
const web = import.meta.dirname;
for (const mode of ["worker", "page"]) {
  const outDir = path.resolve(folder);
  await build({
    root: web,
    configFile: path.join(web, "vite.page.config.ts"),
    mode,
    build: { outDir },
    logLevel: "warn",
  });
}
const take = (name) => {
  const file = path.join(folder, name);
  const text = fs.readFileSync(file, "utf8");
  fs.rmSync(file);
  return text;
};
const [page, worker, style] = ["page.js", "worker.js", "traceloom.css"].map(take);
const packed = zlib.gzipSync(fs.readFileSync(wasm), { level: 9 }).toString("base64");
const script = `${fs.readFileSync(glue, "utf8")}\n${worker}`;
const engine = `globalThis.traceloomEngine = ${JSON.stringify({ script, wasm: packed })};\n`;

/// Nothing is loaded from elsewhere, and nothing is sent anywhere.
const policy = (own) =>
  `default-src 'none'; script-src ${own} 'wasm-unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline' ${own}; img-src data: blob:`;
/// In a script of an HTML file.
const inlined = (text) => `<script>${text.replace(/<(?=\/script|!--)/gi, "\\x3c")}</script>`;
const html = fs.readFileSync(path.join(web, "index.html"), "utf8");
const made = (own, head, scripts) => {
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy(own)}" />`;
  const placed = html.replace(/<script type="module".*<\/script>/, () => scripts);
  return placed.replace("<title>", () => `${meta}\n    ${head}\n    <title>`);
};
const write = (name, text) => fs.writeFileSync(path.join(folder, name), text);
write("traceloom.css", style);
write("traceloom.js", page);
write("engine.js", engine);
write(
  "index.html",
  made(
    "'self' file:",
    '<link rel="stylesheet" href="traceloom.css" />',
    '<script src="engine.js"></script>\n    <script src="traceloom.js"></script>',
  ),
);
write(
  "traceloom-page.html",
  made("'unsafe-inline'", `<style>${style}</style>`, `<!--trace-->\n${inlined(engine)}\n${inlined(page)}`),
);

const loaded = ["index.html", "traceloom.css", "traceloom.js", "engine.js"];
const sizes = loaded.map((name) => zlib.gzipSync(fs.readFileSync(path.join(folder, name)), { level: 9 }).length);
const bytes = sizes.reduce((sum, size) => sum + size);
const size = `the page has ${(bytes / 1e6).toFixed(2)} MB in gzip, of ${MAX_BYTES / 1e6} MB at most`;
if (bytes > MAX_BYTES) throw new Error(size);
process.stderr.write(`${size}\n`);
