// What a panel is, and what panels share.

export { element, failure, note, saveFile, switcher, type Choice } from "./dom";
export { table, type Column, type TableElement, type TableOptions } from "./table";

/** One tab below the timeline. */
export interface Panel {
  id: string;
  title: string;
  /** Whether there is anything to show. */
  isUseful(): boolean;
  /** Fills an empty element; called again when the selection or the traces change, unless there is `update`. */
  show(host: HTMLElement): void | Promise<void>;
  /** Follows the selection or the traces in the element that `show` filled: what is there stays until more is known. */
  update?(): void | Promise<void>;
}
