import { createDatabase } from '../../test/support/postgres-database.ts'
import { benchDirectory } from '../bench-directory.ts'
import { startReceiver } from '../callback-deliveries.ts'
import { fillCallbacks, LOCAL } from '../fill-callbacks.ts'
import type { Scenario } from '../scenario.ts'
import { startProduct, TOKEN } from '../server-process.ts'

const BACKLOG = 10_000
const PROCESSES = [1, 2, 3]

export const scenario: Scenario = {
  description: `delivery of a backlog of ${BACKLOG} on PostgreSQL by one, two and three processes`,
  async run(say) {
    const receiver = await startReceiver()
    const rates: number[] = []
    for (const count of PROCESSES) {
      const database = await createDatabase({ migrated: false })
      const directory = benchDirectory()
      const env = { COMMONPLACE_ADMIN_TOKEN: TOKEN, COMMONPLACE_DATABASE_URL: database.url, ...LOCAL }
      await (await startProduct(directory, env)).stop()
      await fillCallbacks(directory, BACKLOG, receiver.url, { databaseUrl: database.url })
      const products = await Promise.all(Array.from({ length: count }, () => startProduct(benchDirectory(), env)))
      const { firstMs, lastMs } = await receiver.until(BACKLOG)
      rates.push((BACKLOG / (lastMs - firstMs)) * 1_000)
      say(`${count}: ${Math.round(rates.at(-1) as number)}/s`)
      await Promise.all(products.map((product) => product.stop()))
      const { count: received } = await receiver.reset()
      if (received !== BACKLOG) say(`${received - BACKLOG} arrived twice`)
      await database.drop()
    }
    await receiver.stop()
    const [one = 0, two = 0] = rates
    return {
      columns: ['processes', 'deliveries/s'],
      rows: PROCESSES.map((count, index) => [count, rates[index] ?? null]),
      targets: [{ name: 'two processes against one', value: (100 * two) / one, unit: '%', atLeast: 100 }],
    }
  },
}
