// What a panel is.

import { store, type PageState, type PanelId } from "../store";

/** One tab below the timeline. */
export interface Panel {
  readonly id: PanelId;
  readonly title: string;
  /** Whether there is anything to show. */
  isUseful(state: PageState): boolean;
  /** What its tab shows next to the title, such as how many problems there are; nothing if it is empty. */
  badge?(state: PageState): string;
  /** Makes what fills the tab; called once. */
  create(): PanelView;
}

/** What fills a tab: mounted when the tab is opened, unmounted when another one is. */
export interface PanelView {
  /** Fills an empty element. */
  mount(host: HTMLElement): void | Promise<void>;
  /** Follows the selection or the traces: what is there stays until more is known. */
  update(): void | Promise<void>;
  /** Leaves the element alone, and the store. */
  unmount(): void;
}

/** Hears of a selected value for as long as the panel is mounted. */
export type Watch = <T>(select: (state: PageState) => T, listener: (value: T) => void) => void;

/** What a panel is made of. */
export interface Content {
  update(): void | Promise<void>;
  /** Says what to hear of; called at each mount. */
  watch?(watch: Watch): void;
}

/** A view that is made from scratch each time its tab is opened. */
export function fresh(make: (host: HTMLElement) => Content): PanelView {
  let content: Content | null = null;
  const watching = new Watching();
  return {
    mount(host) {
      content = make(host);
      content.watch?.(watching.watch);
      return content.update();
    },
    update: () => content?.update(),
    unmount() {
      watching.end();
      content = null;
    },
  };
}

/** A view that stays while its tab is closed, with what was typed, chosen and scrolled. */
export function lasting(make: () => Content & { readonly host: HTMLElement }): PanelView {
  let content: (Content & { readonly host: HTMLElement }) | null = null;
  const watching = new Watching();
  return {
    mount(host) {
      content ??= make();
      host.append(content.host);
      content.watch?.(watching.watch);
      return content.update();
    },
    update: () => content?.update(),
    unmount: () => watching.end(),
  };
}

/** Subscriptions that end together. */
class Watching {
  private ends: (() => void)[] = [];

  readonly watch: Watch = (select, listener) => void this.ends.push(store.subscribe(select, listener));

  end(): void {
    for (const end of this.ends.splice(0)) end();
  }
}
