import { bindForwardReferences, bindOwnLinks, replaceRelations, unbind } from '../../src/knowledge/link/bind-links.ts'
import { addNames, dropNames, namesOf, replaceNames } from '../../src/knowledge/link/names.ts'
import type { Note, Project } from '../../src/knowledge/note/note.ts'
import {
  deleteNote,
  insertContent,
  insertNote,
  updateContent,
  updateNote,
} from '../../src/knowledge/note/store-notes.ts'
import { insertProject } from '../../src/knowledge/project/store-projects.ts'
import type { SearchIndex } from '../../src/knowledge/search/index/search-index.ts'
import { replaceSearchRows } from '../../src/knowledge/search/index/store-search-rows.ts'
import { parseBody } from '../../src/knowledge/text/body/parse-body.ts'
import { stemOf } from '../../src/knowledge/text/name/path.ts'
import { permalinkFor } from '../../src/knowledge/text/name/slug.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import { runningIndex } from '../support/running-index.ts'

export interface NoteWish {
  path: string
  title?: string
  permalink?: string | null
  aliases?: string[]
  body?: string
  id?: string
}

/** A project whose notes have rows, names and links, and nothing else. */
export class LinkedNotes {
  readonly db: Database
  readonly project: Project
  readonly searchIndex: SearchIndex
  readonly #aliases = new Map<number, string[]>()

  static async open(db: Database, name = 'main'): Promise<LinkedNotes> {
    const externalId = newId()
    const row = {
      name,
      name_folded: name,
      permalink: name,
      path: `/${name}`,
      is_default: 0,
      created_at: 0,
      modified_at: 0,
    }
    await db.write((tx) => insertProject(tx, { ...row, is_default: 0, external_id: externalId }))
    const { id } = await db.query
      .selectFrom('projects')
      .select('id')
      .where('external_id', '=', externalId)
      .executeTakeFirstOrThrow()
    return new LinkedNotes(db, { id, externalId, name, permalink: name, formerPermalinks: '' }, await runningIndex(db))
  }

  private constructor(db: Database, project: Project, searchIndex: SearchIndex) {
    this.db = db
    this.project = project
    this.searchIndex = searchIndex
  }

  add(wish: NoteWish): Promise<Note> {
    return this.db.write((tx) => this.addIn(tx, wish))
  }

  async addIn(tx: Transaction, wish: NoteWish): Promise<Note> {
    const { project } = this
    const externalId = wish.id ?? newId()
    const { path, title = stemOf(path), aliases = [], body = '' } = wish
    const permalink = wish.permalink === undefined ? permalinkFor(project, path, externalId, true) : wish.permalink
    const note = await insertNote(tx, {
      external_id: externalId,
      project_id: project.id,
      title,
      note_type: 'note',
      type_key: 'note',
      permalink,
      file_path: path,
      metadata: '{}',
      checksum: '',
      size: body.length,
      version: 1,
      last_change: 'created',
      created_at: 0,
      updated_at: 0,
      written_at: 0,
      created_by: null,
      written_by: null,
    })
    await insertContent(tx, note.id, body)
    this.#aliases.set(note.id, aliases)
    await addNames(tx, project, { note, aliases })
    const parsed = parseBody(body)
    await replaceRelations(tx, project, note, parsed.links, { isNew: true })
    await bindForwardReferences(tx, project, note, namesOf(note, aliases))
    await replaceSearchRows(tx, note, { body, parsed, metadata: {} }, true)
    return note
  }

  rename(before: Note, wish: Partial<Pick<Note, 'title' | 'permalink' | 'file_path'>> & { aliases?: string[] }) {
    return this.db.write(async (tx) => {
      const { aliases = this.#aliases.get(before.id) ?? [], ...names } = wish
      const note = { ...before, ...names }
      await updateNote(tx, before, note)
      const old = { note: before, aliases: this.#aliases.get(before.id) ?? [] }
      await replaceNames(tx, this.project, old, { note, aliases })
      if (note.file_path !== before.file_path) await bindOwnLinks(tx, this.project, note)
      await bindForwardReferences(tx, this.project, note, namesOf(note, aliases))
      this.#aliases.set(note.id, aliases)
      return note
    })
  }

  rewrite(note: Note, body: string): Promise<void> {
    return this.db.write((tx) => this.rewriteIn(tx, note, body))
  }

  async rewriteIn(tx: Transaction, note: Note, body: string): Promise<void> {
    await updateContent(tx, note.id, body)
    await replaceRelations(tx, this.project, note, parseBody(body).links, { isNew: false })
  }

  remove(note: Note): Promise<void> {
    return this.db.write(async (tx) => {
      await dropNames(tx, this.project, note, this.#aliases.get(note.id) ?? [])
      await deleteNote(tx, note.id)
      await unbind(tx, this.project, note.id)
    })
  }

  /** `source -type-> target`, or `source -type-> "name"` while there is none; repeats are left out. */
  async edges(): Promise<string[]> {
    const rows = await this.db.query
      .selectFrom('relations as r')
      .innerJoin('notes as s', 's.id', 'r.from_id')
      .leftJoin('notes as t', 't.id', 'r.to_id')
      .select(['s.file_path as source', 'r.relation_type as type', 't.file_path as target', 'r.to_name as name'])
      .where('r.project_id', '=', this.project.id)
      .where('r.is_repeat', '=', 0)
      .orderBy('s.file_path')
      .orderBy('r.position')
      .execute()
    return rows.map(({ source, type, target, name }) => `${source} -${type}-> ${target ?? `"${name}"`}`)
  }
}
