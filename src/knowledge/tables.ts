import type { Generated, Selectable } from 'kysely'
import type { Micros } from '../platform/clock/clock.ts'
import type { Flag } from '../platform/storage/tables.ts'

export interface ProjectsTable {
  id: Generated<number>
  external_id: string
  name: string
  /** What makes names unique: they may not differ by case alone. */
  name_folded: string
  permalink: string
  /** Those of former names, the last one first, with a slash between two; empty when it had no other. */
  former_permalinks: Generated<string>
  path: string
  is_default: Flag
  is_active: Generated<Flag>
  /** Set when it was deleted; such a project is invisible everywhere while its notes are taken away. */
  deleted_at: Generated<Micros | null>
  created_at: Micros
  modified_at: Micros
}

export interface NotesTable {
  id: Generated<number>
  external_id: string
  project_id: number
  title: string
  note_type: string
  /** The canonical form of `note_type`: what filters compare. */
  type_key: string
  permalink: string | null
  file_path: string
  /** All frontmatter as a JSON object. */
  metadata: string
  /** SHA-256 of the content, hexadecimal. */
  checksum: string
  /** Of the content, in UTF-16 units. */
  size: number
  version: number
  last_change: NoteChange
  /** What the note says of itself in its frontmatter, else when it was written. */
  created_at: Micros
  updated_at: Micros
  /** When the last change was really accepted. */
  written_at: Micros
  created_by: string | null
  written_by: string | null
}

export type NoteRow = Selectable<NotesTable>

export type NoteChange = 'created' | 'updated' | 'moved' | 'restored' | 'deleted'

export interface NoteContentsTable {
  note_id: number
  content: string
}

export interface ObservationsTable {
  note_id: number
  position: number
  category: string
  content: string
  context: string | null
  /** A JSON array of texts. */
  tags: string
}

export interface RelationsTable {
  from_id: number
  /** Order in the document, over explicit relations and inline links. */
  position: number
  project_id: number
  relation_type: string
  /** Null while no note answers to the name. */
  to_id: number | null
  /** An earlier relation of the same note has the same type and target: kept, but shown nowhere. */
  is_repeat: Generated<Flag>
  /** The literal target, without display text; with its anchor. */
  to_name: string
  /** Of what is bound, what stands behind the name of the note; else what stands behind the first "#". */
  anchor: string | null
  display: string | null
  context: string | null
  /** `nameKey` of the target without its anchor: what stands before the first "#". */
  target_key: string
  /** `nameKey` of the target with its anchor, where it has one: a note may be called "C# guide". */
  whole_key: string | null
}

/** 0: what the note is called now (path, permalink, title); the others have the literal text in `value`. */
export const NAME_KINDS = { current: 0, alias: 1, retiredPermalink: 2, retiredPath: 3, retiredTitle: 4 } as const

export interface NoteNamesTable {
  project_id: number
  name_key: string
  kind: number
  note_id: number
  value: Generated<string>
}

export interface NoteRevisionsTable {
  note_id: number
  version: number
  title: string
  note_type: string
  permalink: string | null
  file_path: string
  checksum: string
  size: number
  change: NoteChange
  written_at: Micros
  written_by: string | null
  /** Null: `content` is the whole text. Else how much of the next version's beginning and end stands around it. */
  kept_head: number | null
  kept_tail: number | null
  content: string
}

export interface NoteTrashTable {
  note_id: number
  external_id: string
  project_id: number
  title: string
  file_path: string
  /** The row of `notes` as JSON. */
  note: string
  content: string
  deleted_at: Micros
  deleted_by: string | null
}

export interface NoteChangesTable {
  seq: Generated<number>
  project_id: number
  external_id: string
  change: NoteChange
  version: number
  file_path: string
  changed_at: Micros
  changed_by: string | null
}

declare module '../platform/storage/tables.ts' {
  interface Tables {
    projects: ProjectsTable
    notes: NotesTable
    note_contents: NoteContentsTable
    observations: ObservationsTable
    relations: RelationsTable
    note_names: NoteNamesTable
    note_revisions: NoteRevisionsTable
    note_trash: NoteTrashTable
    note_changes: NoteChangesTable
  }
}
