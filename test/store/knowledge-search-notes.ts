import type { Note, Project } from '../../src/knowledge/note/note.ts'
import { insertObservations } from '../../src/knowledge/note/store-observations.ts'
import type { Main, SearchFilters } from '../../src/knowledge/search/filter/filters.ts'
import { type Found, findRows, type Page } from '../../src/knowledge/search/find/find-rows.ts'
import { replaceSearchRows } from '../../src/knowledge/search/index/store-search-rows.ts'
import { parseQuestion } from '../../src/knowledge/search/question/question.ts'
import { parseBody } from '../../src/knowledge/text/body/parse-body.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { addProject, insertPlainNote, plainNote } from '../support/plain-notes.ts'
import { runningIndex } from '../support/running-index.ts'

export interface Draft {
  id: number
  title?: string
  body?: string
  metadata?: Record<string, unknown>
  type?: string
  permalink?: string
  updatedAt?: number
}

const WHOLE: Page = { limit: 10_000, offset: 0 }

/** Notes of one project that are found by what stands in them; nothing else of them is there. */
export class SearchedNotes {
  readonly db: Database
  readonly project: Project

  static async open(db: Database, name = 'main'): Promise<SearchedNotes> {
    return new SearchedNotes(db, await addProject(db, name))
  }

  private constructor(db: Database, project: Project) {
    this.db = db
    this.project = project
  }

  async add(drafts: readonly Draft[]): Promise<void> {
    await this.db.write(async (tx) => {
      for (const { id, title = `Note ${id}`, body = '', metadata = {}, ...other } of drafts) {
        const { content, ...note } = plainNote(this.project, id, {
          title,
          content: body,
          metadata: JSON.stringify(metadata),
          permalink: other.permalink ?? `place/${id}`,
          file_path: `place/${id}.md`,
          note_type: other.type ?? 'note',
          type_key: other.type ?? 'note',
          updated_at: other.updatedAt ?? 1_000 + id,
        })
        await insertPlainNote(tx, { ...note, content })
        const parsed = parseBody(body)
        await insertObservations(tx, id, parsed.observations)
        for (const [position, { name, type }] of parsed.links.entries()) {
          const isRepeat = parsed.links.slice(0, position).some((link) => link.name === name && link.type === type)
          await tx.query
            .insertInto('relations')
            .values({
              from_id: id,
              position,
              project_id: this.project.id,
              relation_type: type,
              to_id: null,
              is_repeat: isRepeat ? 1 : 0,
              to_name: name,
              anchor: null,
              display: null,
              context: null,
              target_key: name,
              whole_key: null,
            })
            .execute()
        }
        await replaceSearchRows(tx, note as Note, { body, parsed, metadata: metadata as never }, true)
      }
    })
    await (await runningIndex(this.db)).caughtUp()
  }

  async find(main: Main, filters: SearchFilters = {}, page = WHOLE): Promise<Found> {
    await (await runningIndex(this.db)).caughtUp()
    return findRows(this.db, this.project, { main, filters, page })
  }

  text(text: string, filters: SearchFilters = {}, page = WHOLE): Promise<Found> {
    return this.find({ mode: 'text', question: parseQuestion(text) }, filters, page)
  }

  /** Numbers of notes, in the order in which they are found; only rows of notes themselves. */
  async notes(text: string, filters: SearchFilters = {}): Promise<number[]> {
    return (await this.text(text, { kinds: ['note'], ...filters })).rows.map(({ noteId }) => noteId)
  }
}
