import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { benchDirectory } from '../bench-directory.ts'
import { loadPost } from '../load.ts'
import { median, type Scenario } from '../scenario.ts'
import { start, startProduct, TOKEN } from '../server-process.ts'

// Short rounds by turns: whatever else the machine does then hits both sides of a ratio.
const ROUNDS = 12
const SECONDS = 1
const WARM_UP_SECONDS = 2
const CONNECTIONS = 64
const YARDSTICK = fileURLToPath(new URL('../yardstick-server.ts', import.meta.url))

export const scenario: Scenario = {
  description: `POST /api/v2/users against a bare route that inserts one row, ${CONNECTIONS} connections, durable, SQLite`,
  async run(say) {
    // Where others compute, the dearer route loses less: a figure from a busy machine flatters.
    const [loadBefore] = loadavg()
    const env = { COMMONPLACE_ADMIN_TOKEN: TOKEN, COMMONPLACE_USERS__RATE_LIMITS: '{}' }
    const bareDirectory = benchDirectory()
    await (await startProduct(bareDirectory, env)).stop()
    const bare = await start([YARDSTICK, bareDirectory], /(http:\S+)/)
    const product = await startProduct(benchDirectory(), env)
    const attributes = { email: 'user-[<id>]@example.org', name: 'User [<id>]', title: 'Engineer' }
    const create = (seconds: number) =>
      loadPost({
        url: `${product.url}/api/v2/users`,
        seconds,
        connections: CONNECTIONS,
        headers: { authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ data: { type: 'users', attributes } }),
      })
    const insert = (seconds: number) =>
      loadPost({
        url: `${bare.url}/yardstick`,
        seconds,
        connections: CONNECTIONS,
        headers: {},
        body: JSON.stringify({ payload: JSON.stringify(attributes) }),
      })
    const ours: number[] = []
    const theirs: number[] = []
    // The first round only warms both up.
    for (let round = 0; round <= ROUNDS; round++) {
      const seconds = round === 0 ? WARM_UP_SECONDS : SECONDS
      const isOurFirst = round % 2 === 0
      const first = await (isOurFirst ? create : insert)(seconds)
      const second = await (isOurFirst ? insert : create)(seconds)
      if (round === 0) continue
      const [our, their] = isOurFirst ? [first, second] : [second, first]
      ours.push(our)
      theirs.push(their)
      say(`round ${round} of ${ROUNDS}: ${Math.round(our)} users/s against ${Math.round(their)} rows/s`)
    }
    await Promise.all([product.stop(), bare.stop()])
    const share = median(ours.map((our, round) => (100 * our) / (theirs[round] as number)))
    return {
      columns: ['route', 'requests/s', '% of bare'],
      rows: [
        ['insert one row', median(theirs), 100],
        ['create a user', median(ours), share],
      ],
      targets: [{ name: 'share of a bare insert', value: share, unit: '%', atLeast: 40 }],
      details: { ours, theirs, loadBefore },
    }
  },
}
