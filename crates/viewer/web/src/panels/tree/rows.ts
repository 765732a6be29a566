// From what the server sends to the rows of a tree.

import { FlameFrame, type FlameAnswer } from "../../wire";

/** A frame, and the frames that it calls or is called from. */
export interface TreeNode {
  /** The names on the way to it; distinguishes frames when the tree is another one. */
  key: string;
  depth: number;
  /** Null for frames that are too small to be listed. */
  name: string | null;
  total: number;
  own: number;
  count: number;
  /** How many frames it stands for; 0 for a real one. */
  folded: number;
  parent: TreeNode | null;
  children: TreeNode[];
}

export type TreeSort = "total" | "own" | "count";

/** The outermost nodes; the root of everything is not one of them. */
export function treeOf({ frames, names }: Pick<FlameAnswer, "frames" | "names">): TreeNode[] {
  const nodes: TreeNode[] = [];
  frames.forEach((frame, number) => {
    const name = frame[FlameFrame.name];
    const parent = number === 0 ? null : (nodes[frame[FlameFrame.parent]] ?? null);
    const text = name === null ? null : (names[name] ?? "");
    const node: TreeNode = {
      key: number === 0 ? "" : `${parent?.key ?? ""}\n${text ?? "\t"}`,
      depth: parent ? parent.depth + 1 : -1,
      name: text,
      total: frame[FlameFrame.total],
      own: frame[FlameFrame.own],
      count: frame[FlameFrame.count],
      folded: frame[FlameFrame.folded],
      parent,
      children: [],
    };
    parent?.children.push(node);
    nodes.push(node);
  });
  return nodes[0]?.children ?? [];
}

/** The nodes that are seen, in order: children only of those that are open. */
export function seen(roots: readonly TreeNode[], open: ReadonlySet<string>, sort: TreeSort): TreeNode[] {
  const rows: TreeNode[] = [];
  const waiting = sorted(roots, sort).reverse();
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    rows.push(node);
    if (open.has(node.key)) waiting.push(...sorted(node.children, sort).reverse());
  }
  return rows;
}

function sorted(nodes: readonly TreeNode[], sort: TreeSort): TreeNode[] {
  // Those that stand for many come last, whatever they add up to.
  const rank = (node: TreeNode): number => (node.folded > 0 ? -1 : node[sort]);
  return [...nodes].sort((one, other) => rank(other) - rank(one));
}

/** The way to where most of the weight is: as long as one child has at least half of its parent. */
export function heaviest(roots: readonly TreeNode[]): string[] {
  const keys: string[] = [];
  let node = sorted(roots, "total")[0];
  while (node?.folded === 0 && node.children.length > 0) {
    keys.push(node.key);
    const next: TreeNode | undefined = sorted(node.children, "total")[0];
    node = next && next.total * 2 >= node.total ? next : undefined;
  }
  return keys;
}

/** The node of a name that most of the weight is in; none if the tree does not list the name. */
export function mostOf(roots: readonly TreeNode[], name: string): TreeNode | null {
  let found: TreeNode | null = null;
  const waiting = [...roots];
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    if (at.name === name && at.total > (found?.total ?? -1)) found = at;
    waiting.push(...at.children);
  }
  return found;
}

/** A node and everything below it that has children. */
export function below(node: TreeNode): string[] {
  const keys: string[] = [];
  const waiting = [node];
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    if (at.children.length > 0) keys.push(at.key);
    waiting.push(...at.children);
  }
  return keys;
}
