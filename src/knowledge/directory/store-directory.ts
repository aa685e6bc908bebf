import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { PathRange } from '../graph/store-paths.ts'
import type { Note } from '../note/note.ts'
import '../tables.ts'
import { textsIn } from '../../platform/storage/json-list.ts'
import { fromListed, unplanned } from '../../platform/storage/look-up.ts'

export interface PathRow {
  file_path: string
  title?: string
  updated_at?: number
}

interface PathsInput {
  projectId: number
  from: string
  limit: number
}

const paths = statement<PathsInput, PathRow>(
  (_query, p, engine) => sql`
    select file_path from notes where project_id = ${p('projectId')} and file_path >= ${p('from')}
    order by file_path limit ${unplanned(engine, p('limit'))}`,
)

const pathsWithDetails = statement<PathsInput, PathRow>(
  (_query, p, engine) => sql`
    select file_path, title, updated_at from notes where project_id = ${p('projectId')} and file_path >= ${p('from')}
    order by file_path limit ${unplanned(engine, p('limit'))}`,
)

/** In code point order, `from` itself included. */
export function pathRowsFrom(reader: Reader, input: PathsInput, withDetails: boolean): Promise<PathRow[]> {
  return reader.run(withDetails ? pathsWithDetails : paths, input)
}

const FILE_COLUMNS = ['id', 'external_id', 'title', 'note_type', 'permalink', 'file_path', 'updated_at'] as const

export type FileRow = Pick<Note, (typeof FILE_COLUMNS)[number]>

const filesInRange = statement<PathRange & { projectId: number }, FileRow>((query, p) =>
  query
    .selectFrom('notes')
    .select(FILE_COLUMNS)
    .where('project_id', '=', p('projectId'))
    .where('file_path', '>', p('after'))
    .where('file_path', '<=', p('upto'))
    .orderBy('file_path'),
)

export function filesOf(reader: Reader, projectId: number, { after, upto }: PathRange): Promise<FileRow[]> {
  return reader.run(filesInRange, { projectId, after, upto })
}

const filesByPath = statement<{ projectId: number; paths: string }, FileRow>(
  (_query, p, engine) => sql`
    select ${sql.join(FILE_COLUMNS.map((column) => sql.ref(column)))} ${fromListed(engine, {
      table: 'notes',
      column: 'file_path',
      list: textsIn(engine, p('paths')),
      where: sql`project_id = ${p('projectId')}`,
    })}`,
)

export async function filesAt(
  reader: Reader,
  projectId: number,
  list: readonly string[],
): Promise<Map<string, FileRow>> {
  const rows = list.length === 0 ? [] : await reader.run(filesByPath, { projectId, paths: JSON.stringify(list) })
  return new Map(rows.map((row) => [row.file_path, row]))
}
