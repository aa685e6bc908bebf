import type { Addend } from './database.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { Statement } from './statement.ts'

/** What the operations of one SQLite commit add to sums: counted here, and written by one statement for each sum. */
export class PendingSums {
  readonly #amounts = new Map<Statement<Addend, never>, Map<string, number>>()

  add(statement: Statement<Addend, never>, { name, amount }: Addend): void {
    const amounts = this.#amounts.get(statement) ?? new Map<string, number>()
    this.#amounts.set(statement, amounts)
    amounts.set(name, (amounts.get(name) ?? 0) + amount)
  }

  write(connection: SqliteConnection): void {
    for (const [statement, amounts] of this.#amounts) {
      const { sql, bind } = statement.prepared('sqlite')
      for (const [name, amount] of amounts) {
        if (amount !== 0) connection.change(sql, bind({ name, shard: 0, amount }))
      }
      amounts.clear()
    }
  }

  clear(): void {
    for (const amounts of this.#amounts.values()) amounts.clear()
  }
}
