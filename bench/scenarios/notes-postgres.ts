import { createDatabase } from '../../test/support/postgres-database.ts'
import { loadPost } from '../load.ts'
import { sampleNote } from '../notes-data.ts'
import { startWithNotes, TOKEN } from '../notes-server.ts'
import { median, type Scenario } from '../scenario.ts'

const NOTES = 2_000
const ROUNDS = 5
const SECONDS = 2
const CONNECTIONS = 64

export const scenario: Scenario = {
  description: `notes of 2 KB among ${NOTES} on PostgreSQL, ${CONNECTIONS} connections: reported, not promised`,
  async run(say) {
    const database = await createDatabase({ migrated: false })
    const { product, base, noteIds, pathsFile } = await startWithNotes(say, NOTES, { databaseUrl: database.url })
    const content = sampleNote(NOTES).content.replaceAll(`Note ${NOTES}`, 'Note [<id>]')
    const common = { seconds: SECONDS, connections: CONNECTIONS, headers: { authorization: `Bearer ${TOKEN}` } }
    const append = { operation: 'append', content: 'One more line [<id>] about [[Note 17]].' }
    const work = {
      'create a note': () =>
        loadPost({
          ...common,
          url: `${product.url}${base}/entities`,
          body: JSON.stringify({ title: 'Note [<id>]', directory: 'new', content }),
        }),
      'append to a note': () =>
        loadPost({ ...common, method: 'PATCH', url: product.url, pathsFile, body: JSON.stringify(append) }),
      'get a note': () => loadPost({ ...common, method: 'GET', url: product.url, pathsFile, body: '' }),
      'resolve an id': () =>
        loadPost({
          ...common,
          url: `${product.url}${base}/resolve`,
          body: JSON.stringify({ identifier: noteIds[NOTES / 2] }),
        }),
    }
    const rates = new Map<string, number[]>()
    // The first round only warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, load] of Object.entries(work)) {
        const rate = await load()
        if (round > 0) rates.set(name, [...(rates.get(name) ?? []), rate])
      }
      if (round > 0) say(`round ${round} of ${ROUNDS}`)
    }
    await product.stop()
    await database.drop()
    return {
      columns: ['what', 'requests/s'],
      rows: [...rates].map(([name, list]) => [name, median(list)]),
      targets: [],
      details: Object.fromEntries(rates),
    }
  },
}
