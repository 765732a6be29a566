// The worker: the router of the page as WebAssembly, which answers one request at a time.

import type { Answered, Asked, FromWorker, Start } from "./messages";

interface WasmAnswer {
  readonly status: number;
  readonly content_type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  free(): void;
}

interface WasmViewer {
  answer(method: string, path: string, query: string, body: string): WasmAnswer;
  open(query: string, file: Blob): WasmAnswer;
}

/** Made by wasm-bindgen, in front of this script. */
declare const wasm_bindgen: ((start: { module_or_path: ArrayBuffer }) => Promise<{ memory: WebAssembly.Memory }>) & {
  Viewer: new () => WasmViewer;
};

/** Bytes between two reports of how far a file is read. */
const STEP = 4 << 20;

/** Bytes of memory after which a fault means that there is no more: near the 1 GB that the router may have. */
const NEARLY_ALL = 0.85 * 2 ** 30;

let viewer: Promise<WasmViewer> | null = null;
let memory: WebAssembly.Memory | null = null;
let [read, total, reported] = [0, 0, 0];

const post = (message: FromWorker, moved: Transferable[] = []): void => postMessage(message, { transfer: moved });

/** Called by the router for every read of a file; panels that read it again do not load it. */
(globalThis as Record<string, unknown>)["traceloomRead"] = (bytes: number): void => {
  read += bytes;
  if (total === 0 || read - reported < STEP) return;
  reported = read;
  post({ read, total });
};

addEventListener("message", ({ data }: MessageEvent<Start | Asked>) => void hear(data).catch(fail));

async function hear(message: Start | Asked): Promise<void> {
  if ("wasm" in message) {
    viewer = wasm_bindgen({ module_or_path: message.wasm }).then((started) => {
      memory = started.memory;
      return new wasm_bindgen.Viewer();
    });
    await viewer;
    return;
  }
  const started = await viewer;
  if (!started) throw new Error("it was not started");
  const { method, path, query, body, file } = message;
  [read, total, reported] = [0, file?.size ?? 0, 0];
  const answer = file ? started.open(query, file) : started.answer(method, path, query, body);
  const { status, content_type: type, body: bytes } = answer;
  answer.free();
  post({ status, type, body: bytes.buffer, end: null }, [bytes.buffer]);
}

/** Code that stopped in the middle of something is not asked again. */
function fail(error: unknown): void {
  const isFull = (memory?.buffer.byteLength ?? 0) > NEARLY_ALL;
  const reason = error instanceof Error ? error.message : String(error);
  const what = isFull
    ? "This needs more than the 1 GB of memory that this page has."
    : `This page met a bug in Traceloom (${reason}).`;
  const end = `${what} Open the trace with the program: traceloom view FILE.`;
  const answer: Answered = { status: 500, type: "text/plain", body: new ArrayBuffer(0), end };
  post(answer);
}
