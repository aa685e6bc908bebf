/** Columns as wide as their widest cell. Control characters in data must not reach a terminal. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [headings, ...rows].map((row) => row.map(harmless))
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => [...(line[column] ?? '')].length)))
  for (const line of lines) {
    const cells = line.map((cell, column) => cell + ' '.repeat((widths[column] as number) - [...cell].length))
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`)
  }
}

function harmless(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\u{fffd}')
}
