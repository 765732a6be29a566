// Starts the worker that answers the page; imported before the page, which sends requests at once.

import { carryBy, Gone, type Carrier } from "../api";
import { showReading } from "../header";
import { Local } from "./carrier";
import { unpacked } from "./engine";

async function start(): Promise<Carrier> {
  const engine = globalThis.traceloomEngine;
  if (!engine) throw new Gone("The engine of this page is missing: keep all of its files in one folder.");
  const wasm = await (await unpacked(engine.wasm)).arrayBuffer();
  // A blob, because a browser cannot start a worker from a file.
  const worker = new Worker(URL.createObjectURL(new Blob([engine.script], { type: "text/javascript" })));
  return new Local(worker, wasm, (reading) => showReading(reading?.read ?? 0, reading?.total ?? 0, reading !== null))
    .carry;
}

const started = start();
carryBy(async (url, init) => (await started)(url, init));
