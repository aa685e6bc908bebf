import type { Database } from '../../../platform/storage/database.ts'
import type { KnowledgeDeps } from '../../deps.ts'
import { findNoteById } from '../../note/store-notes.ts'
import { splitText } from '../../text/frontmatter.ts'
import { readBody } from '../../text/parse-body.ts'
import { notesWithoutRows, replaceSearchRows } from './store-search-rows.ts'

const EVERY_MS = 3_600_000
const BATCH = 50

/**
 * Writes rows of the index that an earlier version wrote, or that a restored backup left out. PostgreSQL only: SQLite's index sees to
 * itself. To be called once, before the engine starts.
 */
export function searchJobs({ db, jobs }: Pick<KnowledgeDeps, 'db' | 'jobs'>): void {
  if (db.engine === 'sqlite') return
  jobs.recurring({
    name: 'knowledge.search-rows',
    everyMs: EVERY_MS,
    async run({ signal, log }) {
      const written = await writeOutdatedRows(db, signal)
      if (written > 0) log.info({ written }, 'notes were added to the index of words anew')
    },
  })
}

/** How many notes were written. */
export async function writeOutdatedRows(db: Database, signal?: AbortSignal): Promise<number> {
  let written = 0
  for (let after = 0; ; ) {
    signal?.throwIfAborted()
    const ids = await notesWithoutRows(db, after, BATCH)
    for (const id of ids) {
      await db.write(async (tx) => {
        const found = await findNoteById(tx, id)
        if (found === undefined) return
        const { content, ...note } = found
        const { body } = splitText(content)
        const text = { body, parsed: await readBody(body, () => tx.breathe()), metadata: JSON.parse(note.metadata) }
        await replaceSearchRows(tx, note, text, false)
      })
    }
    written += ids.length
    if (ids.length < BATCH) return written
    after = ids.at(-1) as number
  }
}
