import { CONNECTIONS, compareFewAndMany } from '../few-and-many.ts'
import { startWithNotes } from '../notes-server.ts'
import type { Scenario } from '../scenario.ts'

const FEW = 10_000
const TIMES = 100
// Vectors of a million notes would be made all the while.
const ENV = { COMMONPLACE_KNOWLEDGE__SEMANTIC_SEARCH_ENABLED: 'false' }

export const scenario: Scenario = {
  description: `getting, resolving, creating and patching among ${FEW * TIMES} notes against the same among ${FEW}, ${CONNECTIONS} connections, SQLite`,
  async run(say) {
    const few = await startWithNotes(say, FEW, { env: ENV })
    const many = await startWithNotes(say, FEW, { times: TIMES, env: ENV })
    return compareFewAndMany(say, { server: few, notes: FEW }, { server: many, notes: FEW * TIMES }, 40)
  },
}
