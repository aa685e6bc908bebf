/** Makes rows of the values that SQLite gives for them. */
export type RowMaker = (rows: readonly (readonly unknown[])[]) => unknown[]

/**
 * Objects that Node makes of rows have no fixed shape: they take longer to make than SQLite needs to find the row, and
 * longer to read. These are made by a function that is written for the columns of one statement, which are ours.
 */
export function rowMaker(columns: readonly string[]): RowMaker {
  const members = columns.map((column, at) => `${JSON.stringify(column)}: row[${at}]`)
  return new Function('rows', `return rows.map((row) => ({ ${members.join(', ')} }))`) as RowMaker
}
