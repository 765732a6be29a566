// Files that are dropped on the page.

import { send } from "./api";
import { byId } from "./widgets/dom";

/** Opens files that are dropped; `done` is called when one is on the server. */
export function acceptDrops(done: () => void, fail: (message: string) => void): void {
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
    for (const file of event.dataTransfer?.files ?? []) {
      send("open", { name: file.name }, file).then(done, (error: unknown) => fail(reasonOf(file.name, error)));
    }
  });
}

/** Why a file was not opened; the server may name it already. */
function reasonOf(name: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason.includes(name) ? reason : `${name}: ${reason}`;
}
