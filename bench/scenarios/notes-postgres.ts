import { createDatabase } from '../../test/support/postgres-database.ts'
import { loadPost } from '../load.ts'
import { sampleNote } from '../notes-data.ts'
import { moveAll, type NotesServer, startWithNotes, startYardstick, writeLoads } from '../notes-server.ts'
import { median, type Scenario } from '../scenario.ts'
import { TOKEN } from '../server-process.ts'

const NOTES = 10_000
const ROUNDS = 6
const SECONDS = 3
const WARM_UP_SECONDS = 10
const CONNECTIONS = 64
const GRAPHS = 5
const HEADERS = { authorization: `Bearer ${TOKEN}` }

export const scenario: Scenario = {
  description: `notes of 2 KB among ${NOTES} on PostgreSQL against bare routes on it, ${CONNECTIONS} connections: reported, not promised`,
  async run(say) {
    const databases = await Promise.all([1, 2].map(() => createDatabase({ migrated: false })))
    const [ours, theirs] = databases.map(({ url }) => url)
    const server = await startWithNotes(say, NOTES, { databaseUrl: ours as string })
    const bare = await startYardstick(theirs)
    const work = workOf(server, bare.url, await answerSize(server))
    const rates = new Map<keyof typeof work, number[]>()
    // The first round only warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, load] of Object.entries(work) as [keyof typeof work, (typeof work)['bareGet']][]) {
        const rate = await load(round === 0 ? WARM_UP_SECONDS : SECONDS)
        if (round > 0) rates.set(name, [...(rates.get(name) ?? []), rate])
      }
      if (round > 0) say(`round ${round} of ${ROUNDS}`)
    }
    const graphMs = median(await graphTimes(server))
    const moveMs = await moveAll(server, NOTES)
    await Promise.all([server.product.stop(), bare.stop()])
    await Promise.all(databases.map((database) => database.drop()))
    const of = (name: keyof typeof work) => rates.get(name) as number[]
    const share = (one: keyof typeof work, other: keyof typeof work) =>
      median(of(one).map((rate, at) => (100 * rate) / (of(other)[at] as number)))
    return {
      columns: ['what', 'requests/s', '% of', 'what else', 'ms'],
      rows: [
        ['insert one row', median(of('insert')), null, null, null],
        ['create a note', median(of('create')), share('create', 'insert'), 'insert one row', null],
        ['append to a note', median(of('patch')), share('patch', 'create'), 'create a note', null],
        ['bare GET', median(of('bareGet')), null, null, null],
        ['get a note', median(of('get')), share('get', 'bareGet'), 'bare GET', null],
        ['resolve an id', median(of('resolve')), share('resolve', 'bareGet'), 'bare GET', null],
        ['GET graph', null, null, null, graphMs],
        [`move-directory of ${NOTES} notes`, null, null, null, moveMs],
      ],
      targets: [],
      details: Object.fromEntries(rates),
    }
  },
}

function workOf(server: NotesServer, bareUrl: string, size: number) {
  const { product, base, noteIds, pathsFile } = server
  const common = { connections: CONNECTIONS, headers: HEADERS }
  const payload = JSON.stringify({ payload: `[<id>]${sampleNote(NOTES).content}` })
  const resolve = JSON.stringify({ identifier: noteIds[NOTES / 2] })
  const writes = (seconds: number) => writeLoads(server, NOTES, { seconds, connections: CONNECTIONS })
  return {
    insert: (seconds: number) => loadPost({ ...common, seconds, url: `${bareUrl}/yardstick`, body: payload }),
    create: (seconds: number) => writes(seconds).create(),
    patch: (seconds: number) => writes(seconds).patch(),
    bareGet: (seconds: number) =>
      loadPost({ ...common, seconds, method: 'GET', url: `${bareUrl}/yardstick/document/${size}`, body: '' }),
    get: (seconds: number) => loadPost({ ...common, seconds, method: 'GET', url: product.url, pathsFile, body: '' }),
    resolve: (seconds: number) => loadPost({ ...common, seconds, url: `${product.url}${base}/resolve`, body: resolve }),
  }
}

async function answerSize({ product, base, noteIds }: NotesServer): Promise<number> {
  const answer = await fetch(`${product.url}${base}/entities/${noteIds[NOTES / 2]}`, { headers: HEADERS })
  return (await answer.text()).length
}

async function graphTimes({ product, base }: NotesServer): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < GRAPHS; round++) {
    const began = performance.now()
    await (await fetch(`${product.url}${base}/graph`, { headers: HEADERS })).arrayBuffer()
    times.push(performance.now() - began)
  }
  return times
}
