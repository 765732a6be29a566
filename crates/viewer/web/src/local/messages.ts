// Messages between the page and its worker.

/** The first message: the router as WebAssembly. */
export interface Start {
  wasm: ArrayBuffer;
}

/** A request; one at a time. */
export interface Asked {
  method: string;
  path: string;
  query: string;
  body: string;
  /** The file of `open`, which the worker reads as needed. */
  file: Blob | null;
}

/** Progress of reading a file. */
export interface Reading {
  read: number;
  total: number;
}

/** The answer to the last request. */
export interface Answered {
  status: number;
  type: string;
  body: ArrayBuffer;
  /** A fatal error: no more requests are answered. */
  end: string | null;
}

export type FromWorker = Reading | Answered;
