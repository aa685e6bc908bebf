import { sql } from 'kysely'
import type { Project } from '../../src/knowledge/note/note.ts'
import { deleteNote, updateContent } from '../../src/knowledge/note/store-notes.ts'
import {
  dropSearchRows,
  findByNameWords,
  replaceSearchRows,
} from '../../src/knowledge/search/index/store-search-rows.ts'
import { parseBody } from '../../src/knowledge/text/body/parse-body.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { addProject, insertPlainNote, plainNote } from '../support/plain-notes.ts'

/** Notes of one project with nothing but their text and what a search finds them by. */
export class IndexedNotes {
  readonly db: Database
  readonly project: Project

  static async open(db: Database): Promise<IndexedNotes> {
    const found = await db.query.selectFrom('projects').selectAll().executeTakeFirst()
    if (found === undefined) return new IndexedNotes(db, await addProject(db, 'main'))
    return new IndexedNotes(db, { ...found, externalId: found.external_id, formerPermalinks: '' })
  }

  private constructor(db: Database, project: Project) {
    this.db = db
    this.project = project
  }

  async add(id: number, title: string, body = '', metadata = '{}'): Promise<void> {
    const { content, ...note } = plainNote(this.project, id, { title, content: body, metadata })
    await this.db.write(async (tx) => {
      await insertPlainNote(tx, { ...note, content })
      await replaceSearchRows(tx, note, { body, parsed: parseBody(body), metadata: {} }, true)
    })
  }

  async retitle(id: number, title: string): Promise<void> {
    const note = plainNote(this.project, id, { title })
    await this.db.write(async (tx) => {
      await tx.query.updateTable('notes').set({ title }).where('id', '=', id).execute()
      await updateContent(tx, id, '')
      await replaceSearchRows(tx, note, { body: '', parsed: parseBody(''), metadata: {} }, false)
    })
  }

  /** SQLite only: the index reads the rest by itself. */
  async rewrite(id: number, body: string, metadata = '{}'): Promise<void> {
    const note = plainNote(this.project, id, {})
    await this.db.write(async (tx) => {
      await tx.query.updateTable('notes').set({ metadata }).where('id', '=', id).execute()
      await updateContent(tx, id, body)
      await replaceSearchRows(tx, note, { body, parsed: parseBody(body), metadata: {} }, false)
    })
  }

  async remove(id: number): Promise<void> {
    await this.db.write(async (tx) => {
      await dropSearchRows(tx, id)
      await deleteNote(tx, id)
    })
  }

  async named(text: string): Promise<number[]> {
    return (await findByNameWords(this.db, this.project, text)).map(({ id }) => id).sort((a, b) => a - b)
  }

  /** SQLite only: the changes that wait. */
  async queued(): Promise<number> {
    const { rows } = await sql<{ n: number }>`select count(*) as n from note_search_queue`.execute(this.db.query)
    return rows[0]?.n as number
  }

  /** SQLite only: rows of the index. */
  async rows(): Promise<number> {
    const { rows } = await sql<{ n: number }>`select count(*) as n from note_search_docsize`.execute(this.db.query)
    return rows[0]?.n as number
  }
}
