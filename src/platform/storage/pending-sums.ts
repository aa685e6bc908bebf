import { compareTexts } from '../text/compare-texts.ts'
import type { Addend, ShardAddend } from './database.ts'
import type { Engine } from './engine.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { Statement } from './statement.ts'

interface Sum extends Addend {
  statement: Statement<ShardAddend, never>
}

/** What is added to sums before a commit: counted here, and written by one statement for each sum. */
export class PendingSums {
  readonly #amounts = new Map<Statement<ShardAddend, never>, Map<string, number>>()

  add(statement: Statement<ShardAddend, never>, { name, amount }: Addend): void {
    const amounts = this.#amounts.get(statement) ?? new Map<string, number>()
    this.#amounts.set(statement, amounts)
    amounts.set(name, (amounts.get(name) ?? 0) + amount)
  }

  /**
   * What is to be written now; nothing is pending afterwards. In an order that is the same for everybody: of two transactions
   * with the same sums one waits for the other, never each for the other.
   */
  take(engine: Engine): Sum[] {
    const sums: Sum[] = []
    for (const [statement, amounts] of this.#amounts) {
      for (const [name, amount] of amounts) if (amount !== 0) sums.push({ statement, name, amount })
      amounts.clear()
    }
    const sqlOf = ({ statement }: Sum) => statement.prepared(engine).sql
    return sums.sort((a, b) => compareTexts(sqlOf(a), sqlOf(b)) || compareTexts(a.name, b.name))
  }

  /** The same on SQLite, at once. */
  write(connection: SqliteConnection): void {
    for (const { statement, name, amount } of this.take('sqlite')) {
      const { sql, bind } = statement.prepared('sqlite')
      connection.change(sql, bind({ name, shard: 0, amount }))
    }
  }

  clear(): void {
    for (const amounts of this.#amounts.values()) amounts.clear()
  }
}
