// Turns the answer of the server into the rows of a tree.

import { FlameFrame, type FlameAnswer } from "../../wire";

/** A frame and its callees or callers. */
export interface TreeNode {
  /** The names on the path to it, which identify the frame in another tree. */
  key: string;
  depth: number;
  /** Null for frames that are too small to be listed. */
  name: string | null;
  total: number;
  own: number;
  count: number;
  /** Number of frames that it represents; 0 for a real one. */
  folded: number;
  parent: TreeNode | null;
  children: TreeNode[];
}

export type TreeSort = "total" | "own" | "count";

/** The outermost nodes, without the root of everything. */
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

/** The visible nodes in order, with children only of open nodes. */
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
  // Nodes that represent several frames come last, regardless of their weight.
  const rank = (node: TreeNode): number => (node.folded > 0 ? -1 : node[sort]);
  return [...nodes].sort((one, other) => rank(other) - rank(one));
}

/** The path with most of the weight, as long as one child has at least half the weight of its parent. */
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

/** The node of a name with the most weight; null if the tree does not list the name. */
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
