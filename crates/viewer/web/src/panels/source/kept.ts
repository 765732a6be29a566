// The state of the source panel in a link.

import type { SourceLink } from "../../store/panels";
import type { Level } from "../../wire";

/** Restores a link from saved state, which may be anything. */
export function linkFrom(value: unknown): SourceLink {
  const given = (typeof value === "object" ? value : null) as Record<string, unknown> | null;
  const number = (key: string): number | undefined => (typeof given?.[key] === "number" ? given[key] : undefined);
  const text = (key: string): string | undefined => (typeof given?.[key] === "string" ? given[key] : undefined);
  return {
    trace: number("trace"),
    file: number("file"),
    line: number("line"),
    path: text("path"),
    level: (["line", "block", "sub"] as const).find((level: Level) => level === given?.["level"]),
    sub: text("sub"),
    list: given?.["list"] === "subs" ? "subs" : "files",
  };
}
