import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase } from '../../test/support/postgres-database.ts'
import { benchDirectory } from '../bench-directory.ts'
import { fillNotes } from '../fill-notes.ts'
import { loadPost } from '../load.ts'
import { sampleNote } from '../notes-data.ts'
import { median, type Scenario } from '../scenario.ts'
import { startProduct } from '../server-process.ts'

const NOTES = 2_000
const ROUNDS = 5
const SECONDS = 2
const CONNECTIONS = 64
const TOKEN = 'bench-administrator-token-0123456789abcdef'

export const scenario: Scenario = {
  description: `notes of 2 KB among ${NOTES} on PostgreSQL, ${CONNECTIONS} connections: reported, not promised`,
  async run(say) {
    const database = await createDatabase({ migrated: false })
    const directory = benchDirectory()
    const env = { COMMONPLACE_ADMIN_TOKEN: TOKEN, COMMONPLACE_DATABASE_URL: database.url }
    await (await startProduct(directory, env)).stop()
    say(`filling ${NOTES} notes`)
    const { projectId, noteIds } = await fillNotes(directory, NOTES, { databaseUrl: database.url })
    const product = await startProduct(directory, env)
    const base = `/v2/${projectId}/knowledge`
    const pathsFile = join(directory, 'paths.txt')
    writeFileSync(pathsFile, noteIds.map((id) => `${base}/entities/${id}`).join('\n'))
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
