import { loadPost } from '../load.ts'
import { type NotesServer, startWithNotes, TOKEN, writeLoads } from '../notes-server.ts'
import { median, type Scenario } from '../scenario.ts'

const FEW = 10_000
const TIMES = 100
const ROUNDS = 6
const SECONDS = 2
const CONNECTIONS = 64
// Vectors of a million notes would be made all the while.
const ENV = { COMMONPLACE_KNOWLEDGE__SEMANTIC_SEARCH_ENABLED: 'false' }
const HEADERS = { authorization: `Bearer ${TOKEN}` }
const WORK = ['get', 'resolve', 'create', 'patch'] as const
type Rates = Record<(typeof WORK)[number], number[]>

export const scenario: Scenario = {
  description: `getting, resolving, creating and patching among ${FEW * TIMES} notes against the same among ${FEW}, ${CONNECTIONS} connections, SQLite`,
  async run(say) {
    const few = await startWithNotes(say, FEW, { env: ENV })
    const many = await startWithNotes(say, FEW, { times: TIMES, env: ENV })
    say('waiting for the index of words')
    for (const server of [few, many]) await indexed(server)
    const base = { work: workOf(few, FEW), rates: noRates() }
    const large = { work: workOf(many, FEW * TIMES), rates: noRates() }
    // The first round only warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const name of WORK) {
        for (const { work, rates } of [base, large]) {
          const rate = await work[name]()
          if (round > 0) rates[name].push(rate)
        }
      }
      say(`round ${round} of ${ROUNDS}`)
    }
    await Promise.all([few.product.stop(), many.product.stop()])
    const share = (name: keyof Rates) =>
      median(large.rates[name].map((rate, at) => (100 * rate) / (base.rates[name][at] as number)))
    return {
      columns: ['operation', `among ${FEW}/s`, `among ${FEW * TIMES}/s`, '%'],
      rows: WORK.map((name) => [name, median(base.rates[name]), median(large.rates[name]), share(name)]),
      targets: WORK.map((name) => ({ name: `${name}, share of its rate`, value: share(name), unit: '%', atLeast: 40 })),
      details: { few: base.rates, many: large.rates },
    }
  },
}

function noRates(): Rates {
  return { get: [], resolve: [], create: [], patch: [] }
}

/** Get and patch take any note each time, so answers that are kept help as far as they reach; resolve takes one for a round. */
function workOf(server: NotesServer, notes: number) {
  const { product, base, pathsFile, noteIds } = server
  const load = { seconds: SECONDS, connections: CONNECTIONS }
  const common = { ...load, headers: HEADERS }
  const anyId = () => noteIds[Math.floor(Math.random() * noteIds.length)]
  return {
    get: () => loadPost({ ...common, method: 'GET', url: product.url, pathsFile, body: '' }),
    resolve: () =>
      loadPost({ ...common, url: `${product.url}${base}/resolve`, body: JSON.stringify({ identifier: anyId() }) }),
    ...writeLoads(server, notes, load),
  }
}

/** A search is answered when every note before it is in the index. */
async function indexed({ product, base }: NotesServer): Promise<void> {
  const url = `${product.url}${base.replace('/knowledge', '/search/')}`
  const request = { method: 'POST', headers: { ...HEADERS, 'content-type': 'application/json' } }
  for (;;) {
    const { status } = await fetch(url, { ...request, body: JSON.stringify({ text: 'quartz' }) })
    if (status === 200) return
    if (status !== 503) throw new Error(`A search was answered with ${status}`)
  }
}
