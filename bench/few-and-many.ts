import { loadPost } from './load.ts'
import { type NotesServer, writeLoads } from './notes-server.ts'
import { type Measurement, median } from './scenario.ts'
import { TOKEN } from './server-process.ts'

const ROUNDS = 6
const SECONDS = 2
export const CONNECTIONS = 64
const HEADERS = { authorization: `Bearer ${TOKEN}` }
const WORK = ['get', 'resolve', 'create', 'patch'] as const
type Rates = Record<(typeof WORK)[number], number[]>

/** A server and how many notes it has. */
export interface Filled {
  server: NotesServer
  notes: number
}

/** Getting, resolving, creating and patching among few notes and among many, in turns. `atLeast`: what share of a rate is to be left. */
export async function compareFewAndMany(
  say: (text: string) => void,
  few: Filled,
  many: Filled,
  atLeast: number | null,
): Promise<Measurement> {
  say('waiting for the index of words')
  for (const { server } of [few, many]) await indexed(server)
  const [base, large] = [few, many].map((filled) => ({ work: workOf(filled), rates: noRates() })) as [
    Measured,
    Measured,
  ]
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
  await Promise.all([few, many].map(({ server }) => server.product.stop()))
  const share = (name: keyof Rates) =>
    median(large.rates[name].map((rate, at) => (100 * rate) / (base.rates[name][at] as number)))
  return {
    columns: ['operation', `among ${few.notes}/s`, `among ${many.notes}/s`, '%'],
    rows: WORK.map((name) => [name, median(base.rates[name]), median(large.rates[name]), share(name)]),
    targets:
      atLeast === null
        ? []
        : WORK.map((name) => ({ name: `${name}, share of its rate`, value: share(name), unit: '%', atLeast })),
    details: { few: base.rates, many: large.rates },
  }
}

interface Measured {
  work: ReturnType<typeof workOf>
  rates: Rates
}

function noRates(): Rates {
  return { get: [], resolve: [], create: [], patch: [] }
}

/** Get and patch take any note each time, so answers that are kept help as far as they reach; resolve takes one for a round. */
function workOf({ server, notes }: Filled) {
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
