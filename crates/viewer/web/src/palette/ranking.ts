// Finds the commands that match a text, best first.

/** A command. */
export interface Command {
  /** Kind of command: action, panel, thread, name. */
  kind: string;
  title: string;
  /** A key or a figure to show next to it. */
  hint?: string;
  run(): void;
}

/** Commands with all words of a text in their title or kind; a title that starts with a word comes first. */
export function ranked(commands: readonly Command[], text: string, most: number): Command[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const scored = commands.flatMap((command, at) => {
    const title = command.title.toLowerCase();
    const scores = words.map((word) => score(title, command.kind, word));
    if (scores.includes(0)) return [];
    return [{ command, at, score: scores.reduce((sum, one) => sum + one, 0) }];
  });
  scored.sort((one, other) => other.score - one.score || one.at - other.at);
  return scored.slice(0, most).map(({ command }) => command);
}

/** How well a word matches: at the start, at the start of a word, anywhere, or only the kind; 0 for no match. */
function score(title: string, kind: string, word: string): number {
  if (title.startsWith(word)) return 4;
  const at = title.indexOf(word);
  if (at > 0 && /[^\p{L}\p{N}]/u.test(title[at - 1] ?? "")) return 3;
  if (at >= 0) return 2;
  return kind.startsWith(word) ? 1 : 0;
}
