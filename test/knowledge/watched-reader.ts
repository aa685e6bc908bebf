import { CompiledQuery, type KyselyPlugin, type RootOperationNode, sql } from 'kysely'
import type { Reader, Transaction } from '../../src/platform/storage/database.ts'
import type { Statement } from '../../src/platform/storage/statement.ts'

export interface SeenStatement {
  sql: string
  parameters: readonly unknown[]
}

function asSeen<Input extends object>(
  { engine }: Reader,
  statement: Statement<Input, unknown>,
  input: Input,
): SeenStatement {
  const { sql: text, bind } = statement.prepared(engine)
  return { sql: text, parameters: bind(input) }
}

/** The same data, and which prepared statements were put to it. */
export function watchedReader(reader: Reader): { reader: Reader; statements: SeenStatement[] } {
  const statements: SeenStatement[] = []
  const run: Reader['run'] = (statement, input) => {
    statements.push(asSeen(reader, statement, input))
    return reader.run(statement, input)
  }
  return { reader: { engine: reader.engine, query: reader.query, run }, statements }
}

/** The same of what is built as it is asked: each statement is seen as it is compiled. */
export function watchedQuery(query: Reader['query']): { query: Reader['query']; statements: SeenStatement[] } {
  const statements: SeenStatement[] = []
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }): RootOperationNode => {
      const { sql: text, parameters } = query.getExecutor().compileQuery(node, { queryId: 'plan' })
      statements.push({ sql: text, parameters })
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return { query: query.withPlugin(plugin), statements }
}

/** The same for statements that change something and answer nothing. */
export function watchedWriter(tx: Transaction): { writer: Transaction; statements: SeenStatement[] } {
  const statements: SeenStatement[] = []
  const send: Transaction['send'] = (statement, input) => {
    statements.push(asSeen(tx, statement, input))
    return tx.send(statement, input)
  }
  const writer = new Proxy(tx, {
    get(_, name: keyof Transaction) {
      if (name === 'send') return send
      const member = tx[name]
      return typeof member === 'function' ? member.bind(tx) : member
    },
  })
  return { writer, statements }
}

/** So small a table would be read as a whole and sorted; the question is whether it could be done otherwise. */
export async function refuseShortCuts(tx: Transaction): Promise<void> {
  if (tx.engine === 'sqlite') return
  for (const way of ['seqscan', 'sort', 'bitmapscan', 'hashjoin', 'mergejoin']) {
    await sql.raw(`set local enable_${way} = off`).execute(tx.query)
  }
}

export async function planOf(reader: Reader, { sql: text, parameters }: SeenStatement): Promise<string> {
  const explain = reader.engine === 'sqlite' ? 'explain query plan' : 'explain (costs off)'
  const { rows } = await reader.query.executeQuery<Record<string, unknown>>(
    CompiledQuery.raw(`${explain} ${text}`, [...parameters]),
  )
  return rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n')
}

/** A table that is read from end to end, or sorted. An aggregate on PostgreSQL may sort the rows of one piece. */
export const SCAN = /^SCAN (notes|source|target|r|relations|observations)\b|Seq Scan on/m
export const SORT = /TEMP B-TREE|^\s*(->)?\s*(Incremental )?Sort$/m
