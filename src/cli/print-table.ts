export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  for (const line of tableLines(headings, rows)) process.stdout.write(`${line}\n`)
}

/** Columns as wide as their widest cell. Control characters in data must not reach a terminal. */
export function tableLines(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [headings, ...rows].map((row) => row.map(harmless))
  const widths = headings.map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, widthOf(line[column] ?? '')), 0),
  )
  return lines.map((line) =>
    line
      .map((cell, column) => cell + ' '.repeat((widths[column] as number) - widthOf(cell)))
      .join('  ')
      .trimEnd(),
  )
}

function widthOf(cell: string): number {
  return [...cell].length
}

function harmless(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\u{fffd}')
}
