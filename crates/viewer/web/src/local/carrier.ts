// Sends requests to a worker instead of a server.

import { Gone, type Carrier } from "../api";
import type { Answered, Asked, FromWorker, Reading, Start } from "./messages";
import { Queue } from "./queue";

/** A pending request. */
interface Waiting {
  path: string;
  asked: Asked;
  isOver(): boolean;
  answer(response: Response): void;
  fail(error: Error): void;
}

/** A worker with the router. */
export class Local {
  private readonly queue = new Queue<Waiting>();
  private current: Waiting | null = null;
  private end: string | null = null;

  constructor(
    private readonly worker: Worker,
    wasm: ArrayBuffer,
    private readonly reading: (reading: Reading | null) => void,
  ) {
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => this.hear(data));
    worker.addEventListener("error", (event) => this.stop(event.message || "cannot start the worker of this page"));
    const start: Start = { wasm };
    worker.postMessage(start, [wasm]);
  }

  readonly carry: Carrier = (url, { method = "GET", body, signal }) =>
    new Promise((resolve, reject) => {
      const over = (): void => reject(new DOMException("given up", "AbortError"));
      if (signal?.aborted) return over();
      signal?.addEventListener("abort", over, { once: true });
      const [path = "", query = ""] = url.replace(/^api\//, "").split("?");
      const file = body instanceof Blob ? body : null;
      const asked = { method, path, query, body: typeof body === "string" ? body : "", file };
      this.queue.add({ path, asked, isOver: () => signal?.aborted ?? false, answer: resolve, fail: reject });
      this.next();
    });

  private next(): void {
    if (this.current) return;
    this.current = this.queue.take() ?? null;
    if (!this.current) return;
    if (this.end !== null) return this.stop(this.end);
    this.worker.postMessage(this.current.asked);
  }

  private hear(message: FromWorker): void {
    if ("read" in message) return this.reading(message);
    if (message.end !== null) return this.stop(message.end);
    if (this.current?.asked.file) this.reading(null);
    this.current?.answer(responseOf(message));
    this.current = null;
    this.next();
  }

  /** Rejects all requests from now on. */
  private stop(reason: string): void {
    this.end = reason;
    this.reading(null);
    while (this.current) {
      this.current.fail(new Gone(reason));
      this.current = this.queue.take() ?? null;
    }
  }
}

function responseOf({ status, type, body }: Answered): Response {
  return new Response(body, { status, headers: { "content-type": type } });
}
