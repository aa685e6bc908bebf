import type { Reader } from '../../src/platform/storage/database.ts'
import type { SeenStatement } from '../knowledge/watched-reader.ts'

/** The prepared statements that the work puts to the reader. */
export async function seenStatements(
  reader: Reader,
  work: (reader: Reader) => Promise<unknown>,
): Promise<SeenStatement[]> {
  const statements: SeenStatement[] = []
  const run: Reader['run'] = (statement, input) => {
    const prepared = statement.prepared(reader.engine)
    statements.push({ sql: prepared.sql, parameters: prepared.bind(input) })
    return reader.run(statement, input)
  }
  await work({ engine: reader.engine, query: reader.query, run })
  return statements
}
