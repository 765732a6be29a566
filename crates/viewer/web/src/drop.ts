// Handles files that are dropped on the page.

import { send } from "./api";
import { byId } from "./widgets/dom";

/** Opens files. */
export type Opener = (files: Iterable<File>) => void;

/** Opens files; `done` is called when a file is read or uploaded. */
export function opener(done: () => void, fail: (message: string) => void): Opener {
  return (files) => {
    for (const file of files) {
      send("open", { name: file.name }, file).then(done, (error: unknown) => fail(reasonOf(file.name, error)));
    }
  };
}

/** Opens dropped files. */
export function acceptDrops(open: Opener): void {
  const shade = byId("shade");
  let depth = 0;
  const show = (by: number): void => {
    depth = Math.max(0, depth + by);
    shade.hidden = depth === 0;
  };
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragenter", (event) => hasFiles(event) && show(1));
  addEventListener("dragleave", (event) => hasFiles(event) && show(-1));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    show(-depth);
    open(event.dataTransfer?.files ?? []);
  });
}

/** Why a file was not opened; the message of the server may already contain its name. */
function reasonOf(name: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason.includes(name) ? reason : `${name}: ${reason}`;
}
