import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import '../../src/knowledge/tables.ts'

export interface NoteRow {
  path: string
  title?: string
  type?: string
  permalink?: string | null
  updatedAt?: number
  size?: number
  content?: string
  observations?: { category: string; content: string; context?: string; tags?: string[] }[]
  /** Paths of notes that exist, or names that nobody has. */
  links?: (string | { to: string; type?: string; isRepeat?: boolean })[]
}

export interface WrittenNotes {
  projectId: number
  ids: Map<string, number>
  externalIds: Map<string, string>
}

/** Rows as the write path leaves them, without its work: for tests of readers that need many or odd notes. */
export async function writeNoteRows(db: Database, rows: readonly NoteRow[]): Promise<WrittenNotes> {
  const projectId = await db.write(async (tx) => {
    const name = newId()
    const row = { name, name_folded: name, permalink: name, path: `/${name}` }
    const times = { created_at: 1, modified_at: 1 }
    const values = { external_id: newId(), ...row, ...times, is_default: 0 as const }
    return (await tx.query.insertInto('projects').values(values).returning('id').executeTakeFirstOrThrow()).id
  })
  const ids = new Map<string, number>()
  const externalIds = new Map<string, string>()
  for (const part of inParts(rows, 500)) {
    await db.write(
      async (tx) => {
        const values = part.map((row) => noteValues(projectId, row))
        const written = await tx.query
          .insertInto('notes')
          .values(values)
          .returning(['id', 'file_path', 'external_id'])
          .execute()
        for (const { id, file_path, external_id } of written) {
          ids.set(file_path, id)
          externalIds.set(file_path, external_id)
        }
        const contents = part.map((row) => ({ note_id: ids.get(row.path) as number, content: row.content ?? '' }))
        await tx.query.insertInto('note_contents').values(contents).execute()
      },
      { alone: true },
    )
  }
  const relations = rows.flatMap((row) => relationValues(projectId, ids, row))
  const observations = rows.flatMap((row) => observationValues(ids, row))
  await db.write(
    async (tx) => {
      for (const part of inParts(relations, 500)) await tx.query.insertInto('relations').values(part).execute()
      for (const part of inParts(observations, 500)) await tx.query.insertInto('observations').values(part).execute()
    },
    { alone: true },
  )
  return { projectId, ids, externalIds }
}

function noteValues(projectId: number, row: NoteRow) {
  const { path, type = 'note', updatedAt = 1_000_000 } = row
  return {
    external_id: newId(),
    project_id: projectId,
    title: row.title ?? path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, ''),
    note_type: type,
    type_key: type.toLowerCase(),
    permalink: row.permalink === undefined ? path.replace(/\.md$/, '').toLowerCase() : row.permalink,
    file_path: path,
    metadata: '{}',
    checksum: '0'.repeat(64),
    size: row.size ?? 0,
    version: 1,
    last_change: 'created' as const,
    created_at: updatedAt,
    updated_at: updatedAt,
    written_at: updatedAt,
    created_by: null,
    written_by: null,
  }
}

function relationValues(projectId: number, ids: ReadonlyMap<string, number>, { path, links = [] }: NoteRow) {
  return links.map((link, position) => {
    const { to, type = 'links_to', isRepeat = false } = typeof link === 'string' ? { to: link } : link
    return {
      from_id: ids.get(path) as number,
      position,
      project_id: projectId,
      relation_type: type,
      to_id: ids.get(to) ?? null,
      is_repeat: isRepeat ? (1 as const) : (0 as const),
      to_name: to,
      anchor: null,
      display: null,
      context: null,
      target_key: to.toLowerCase(),
      whole_key: null,
    }
  })
}

function observationValues(ids: ReadonlyMap<string, number>, { path, observations = [] }: NoteRow) {
  return observations.map(({ category, content, context = null, tags = [] }, position) => ({
    note_id: ids.get(path) as number,
    position,
    category,
    content,
    context,
    tags: JSON.stringify(tags),
  }))
}

function* inParts<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size)
}
