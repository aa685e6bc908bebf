import { createDatabase } from '../../test/support/postgres-database.ts'
import { CONNECTIONS, compareFewAndMany } from '../few-and-many.ts'
import { startWithNotes } from '../notes-server.ts'
import type { Scenario } from '../scenario.ts'

const FEW = 10_000
const TIMES = 20
const ENV = { COMMONPLACE_KNOWLEDGE__SEMANTIC_SEARCH_ENABLED: 'false' }

export const scenario: Scenario = {
  description: `getting, resolving, creating and patching among ${FEW * TIMES} notes against the same among ${FEW}, ${CONNECTIONS} connections, PostgreSQL: reported, not promised`,
  async run(say) {
    const databases = await Promise.all([1, 2].map(() => createDatabase({ migrated: false })))
    const [one, other] = databases.map(({ url }) => url) as [string, string]
    const few = await startWithNotes(say, FEW, { databaseUrl: one, env: ENV })
    const many = await startWithNotes(say, FEW, { databaseUrl: other, times: TIMES, env: ENV })
    const measured = await compareFewAndMany(
      say,
      { server: few, notes: FEW },
      { server: many, notes: FEW * TIMES },
      null,
    )
    await Promise.all(databases.map((database) => database.drop()))
    return measured
  },
}
