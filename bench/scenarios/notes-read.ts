import { loadPost } from '../load.ts'
import { startWithNotes, startYardstick } from '../notes-server.ts'
import { median, type Scenario } from '../scenario.ts'
import { TOKEN } from '../server-process.ts'

const NOTES = 10_000
const ROUNDS = 8
const SECONDS = 1
// Long enough that every note was asked for.
const WARM_UP_SECONDS = 8
const CONNECTIONS = 64

export const scenario: Scenario = {
  description: `getting and resolving notes by id among ${NOTES} against a route that answers JSON of the same size, ${CONNECTIONS} connections, SQLite`,
  async run(say) {
    const bare = await startYardstick()
    const { product, base, noteIds, pathsFile } = await startWithNotes(say, NOTES)
    const headers = { authorization: `Bearer ${TOKEN}` }
    const common = { connections: CONNECTIONS, headers, body: '' }
    const [someId] = noteIds.slice(NOTES / 2)
    const size = async (path: string, init: RequestInit) =>
      (
        await (
          await fetch(product.url + path, { ...init, headers: { ...headers, 'content-type': 'application/json' } })
        ).text()
      ).length - '{"id":"document","content":""}'.length
    const resolveBody = JSON.stringify({ identifier: someId })
    const sizes = {
      get: await size(`${base}/entities/${someId}`, {}),
      resolve: await size(`${base}/resolve`, { method: 'POST', body: resolveBody }),
    }
    const work = {
      bareGet: (seconds: number) =>
        loadPost({ ...common, seconds, method: 'GET', url: `${bare.url}/yardstick/document/${sizes.get}` }),
      get: (seconds: number) => loadPost({ ...common, seconds, method: 'GET', url: product.url, pathsFile }),
      bareResolve: (seconds: number) =>
        loadPost({
          ...common,
          seconds,
          url: `${bare.url}/yardstick/document`,
          body: JSON.stringify({ size: sizes.resolve }),
        }),
      resolve: (seconds: number) =>
        loadPost({ ...common, seconds, url: `${product.url}${base}/resolve`, body: resolveBody }),
    }
    type Name = keyof typeof work
    const rates: Record<Name, number[]> = { bareGet: [], get: [], bareResolve: [], resolve: [] }
    // The first round only warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const name of Object.keys(work) as Name[]) {
        const rate = await work[name](round === 0 && name === 'get' ? WARM_UP_SECONDS : SECONDS)
        if (round > 0) rates[name].push(rate)
      }
      if (round > 0) say(`round ${round} of ${ROUNDS}`)
    }
    await Promise.all([product.stop(), bare.stop()])
    const share = (one: Name, other: Name) =>
      median(rates[one].map((rate, at) => (100 * rate) / (rates[other][at] as number)))
    const get = share('get', 'bareGet')
    const resolve = share('resolve', 'bareResolve')
    return {
      columns: ['route', 'requests/s', 'bytes', '% of bare'],
      rows: [
        ['bare GET', median(rates.bareGet), sizes.get, 100],
        ['get a note', median(rates.get), sizes.get, get],
        ['bare POST', median(rates.bareResolve), sizes.resolve, 100],
        ['resolve an id', median(rates.resolve), sizes.resolve, resolve],
      ],
      targets: [
        { name: 'getting, share of a bare route', value: get, unit: '%', atLeast: 60 },
        { name: 'resolving, share of a bare route', value: resolve, unit: '%', atLeast: 60 },
      ],
      details: rates,
    }
  },
}
