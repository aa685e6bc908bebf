import type { Database, Transaction } from '../../../platform/storage/database.ts'
import type { KnowledgeDeps } from '../../deps.ts'
import { findNoteById } from '../../note/store-notes.ts'
import { lockProject, UNDER_LOCK } from '../../project/store-project-lock.ts'
import { readBody } from '../../text/body/parse-body.ts'
import { splitText } from '../../text/frontmatter/frontmatter.ts'
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
    // NOTE A backup brings the job along, due when it was due there, but not the rows.
    atStart: true,
    async run({ signal, log }) {
      const written = await writeOutdatedRows(db, { signal })
      if (written > 0) log.info({ written }, 'notes were added to the index of words anew')
    },
  })
}

export interface OutdatedRowsOptions {
  signal?: AbortSignal
  onProgress?: (written: number) => void
}

/** How many notes were written. */
export async function writeOutdatedRows(
  db: Database,
  { signal, onProgress }: OutdatedRowsOptions = {},
): Promise<number> {
  let written = 0
  for (let after = 0; ; ) {
    const notes = await notesWithoutRows(db, after, BATCH)
    for (const { id, project_id: projectId } of notes) {
      signal?.throwIfAborted()
      await db.write(async (tx) => {
        // Whoever deletes the note meanwhile would not see its new rows, and leave them behind.
        await lockProject(tx, { id: projectId })
        await writeRowsAnew(tx, id)
      }, UNDER_LOCK)
    }
    written += notes.length
    onProgress?.(written)
    if (notes.length < BATCH) return written
    after = (notes.at(-1) as { id: number }).id
  }
}

async function writeRowsAnew(tx: Transaction, noteId: number): Promise<void> {
  const found = await findNoteById(tx, noteId)
  if (found === undefined) return
  const { content, ...note } = found
  const { body } = splitText(content)
  const text = { body, parsed: await readBody(body, () => tx.breathe()), metadata: JSON.parse(note.metadata) }
  await replaceSearchRows(tx, note, text, false)
}
