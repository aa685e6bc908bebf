import { loadPost } from '../load.ts'
import { sampleNote } from '../notes-data.ts'
import { startWithNotes, startYardstick, writeLoads } from '../notes-server.ts'
import { median, type Scenario } from '../scenario.ts'

const NOTES = 10_000
const ROUNDS = 8
const SECONDS = 2
const CONNECTIONS = 64

export const scenario: Scenario = {
  description: `creating and patching notes of 2 KB among ${NOTES} against a bare route that inserts one row of 2 KB, ${CONNECTIONS} connections, durable, SQLite`,
  async run(say) {
    const bare = await startYardstick()
    const server = await startWithNotes(say, NOTES)
    const load = { seconds: SECONDS, connections: CONNECTIONS }
    const work = {
      insert: () =>
        loadPost({
          ...load,
          url: `${bare.url}/yardstick`,
          headers: {},
          body: JSON.stringify({ payload: `[<id>]${sampleNote(NOTES).content}` }),
        }),
      ...writeLoads(server, NOTES, load),
    }
    const rates: Record<keyof typeof work, number[]> = { insert: [], create: [], patch: [] }
    // The first round only warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const name of ['insert', 'create', 'patch'] as const) {
        const rate = await work[name]()
        if (round > 0) rates[name].push(rate)
      }
      if (round > 0)
        say(
          `round ${round} of ${ROUNDS}: ${Object.values(rates)
            .map((list) => Math.round(list.at(-1) as number))
            .join(', ')}`,
        )
    }
    await Promise.all([server.product.stop(), bare.stop()])
    const share = (one: number[], other: number[]) =>
      median(one.map((rate, at) => (100 * rate) / (other[at] as number)))
    const createShare = share(rates.create, rates.insert)
    const patchShare = share(rates.patch, rates.create)
    return {
      columns: ['route', 'requests/s', '% of bare', '% of create'],
      rows: [
        ['insert one row', median(rates.insert), 100, null],
        ['create a note', median(rates.create), createShare, 100],
        ['append to a note', median(rates.patch), share(rates.patch, rates.insert), patchShare],
      ],
      targets: [
        { name: 'creating, share of a bare insert', value: createShare, unit: '%', atLeast: 25 },
        { name: 'patching, share of creating', value: patchShare, unit: '%', atLeast: 60 },
      ],
      details: rates,
    }
  },
}
