const MOST = 20

/** "line 3", "lines 3, 8 and 12", each once, the first twenty by number. They ascend. */
export function listLines(lines: readonly number[]): string {
  const all = lines.filter((line, at) => line !== lines[at - 1])
  if (all.length === 1) return `line ${all[0]}`
  if (all.length > MOST) return `lines ${all.slice(0, MOST).join(', ')} and ${all.length - MOST} more`
  return `lines ${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
