// The interface of panels.

import { store, type PageState, type PanelId } from "../store";

/** One tab below the timeline. */
export interface Panel {
  readonly id: PanelId;
  readonly title: string;
  /** Whether there is anything to show. */
  isUseful(state: PageState): boolean;
  /** The text next to the title of the tab, such as the number of problems; empty for none. */
  badge?(state: PageState): string;
  /** Creates the contents of the tab; called once. */
  create(): PanelView;
}

/** The contents of a tab: mounted when the tab is opened, unmounted when another one is opened. */
export interface PanelView {
  /** Fills an empty element. */
  mount(host: HTMLElement): void | Promise<void>;
  /** Updates after changes of the selection or the traces; the old contents stay until new data arrives. */
  update(): void | Promise<void>;
  /** Stops using the element and the store. */
  unmount(): void;
}

/** Subscribes to a selected value as long as the panel is mounted. */
export type Watch = <T>(select: (state: PageState) => T, listener: (value: T) => void) => void;

/** The parts of a panel. */
export interface Content {
  update(): void | Promise<void>;
  /** Sets up subscriptions; called at each mount. */
  watch?(watch: Watch): void;
}

/** A view that is created from scratch each time its tab is opened. */
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

/** A view that is kept while its tab is closed, with its input, selection and scroll position. */
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
