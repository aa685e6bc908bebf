import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'
import { folderBounds } from '../text/name/path.ts'

/** The notes with `after < file_path <= upto`, in code point order. */
export interface PathRange {
  after: string
  upto: string
}

const lastOfAll = statement<{ projectId: number }, { file_path: string }>((query, p) =>
  query
    .selectFrom('notes')
    .select('file_path')
    .where('project_id', '=', p('projectId'))
    .orderBy('file_path', 'desc')
    .limit(1),
)

const lastInFolder = statement<{ projectId: number; lower: string; upper: string }, { file_path: string }>((query, p) =>
  query
    .selectFrom('notes')
    .select('file_path')
    .where('project_id', '=', p('projectId'))
    .where('file_path', '>', p('lower'))
    .where('file_path', '<', p('upper'))
    .orderBy('file_path', 'desc')
    .limit(1),
)

interface CutInput extends PathRange {
  projectId: number
  offset: number
}

const cut = statement<CutInput, { file_path: string }>(
  (_query, p) => sql`
    select file_path from notes
    where project_id = ${p('projectId')} and file_path > ${p('after')} and file_path <= ${p('upto')}
    order by file_path limit 1 offset ${p('offset')}`,
)

async function endOfRange(reader: Reader, input: CutInput): Promise<string> {
  const [end] = await reader.run(cut, input)
  return end?.file_path ?? input.upto
}

async function lastPath(reader: Reader, projectId: number, folder: string | null): Promise<string | null> {
  const [last] =
    folder === null
      ? await reader.run(lastOfAll, { projectId })
      : await reader.run(lastInFolder, { projectId, ...folderBounds(folder) })
  return last?.file_path ?? null
}

/** The notes of a project or folder behind `after`, cut into ranges of `size` notes; the last may have fewer. */
export async function* pathRanges(
  reader: Reader,
  projectId: number,
  { folder, after, size }: { folder: string | null; after: string | null; size: number },
): AsyncGenerator<PathRange & { isLast: boolean }> {
  const last = await lastPath(reader, projectId, folder)
  if (last === null) return
  let start: string = after ?? (folder === null ? '' : folderBounds(folder).lower)
  for (;;) {
    const upto = await endOfRange(reader, { projectId, after: start, upto: last, offset: size - 1 })
    yield { after: start, upto, isLast: upto === last }
    if (upto === last) return
    start = upto
  }
}
