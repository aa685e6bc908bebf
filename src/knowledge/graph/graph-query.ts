import type { Static } from 'typebox'
import { AppError } from '../../platform/errors/app-error.ts'
import { dropUnstorable } from '../text/clean-text.ts'
import { canonicalType } from '../text/frontmatter/note-metadata.ts'
import { cleanExistingDirectory } from '../text/name/path.ts'
import { decodePathCursor } from './path-cursor.ts'
import type { GraphFilters, OrphanFilters } from './schema-graph.ts'
import type { GraphQuery } from './write-graph.ts'
import type { OrphansQuery } from './write-orphans.ts'

const DEFAULT_LIMIT = 1_000

export function graphQueryOf(projectId: number, filters: Static<typeof GraphFilters>): GraphQuery {
  const { note_type: type, directory = '' } = filters
  const folder = cleanExistingDirectory(directory, 'directory') || null
  const { limit, cursor } = pageOf(filters)
  // Of another folder's list it would lead out of this one.
  if (cursor !== null && folder !== null && !cursor.path.startsWith(`${folder}/`)) {
    throw new AppError('invalid_argument', 'The cursor belongs to another directory: begin again without it')
  }
  const typeKey = type === undefined ? null : canonicalType(dropUnstorable(type))
  return { projectId, typeKey, folder, limit, after: cursor?.path ?? null }
}

export function orphansQueryOf(projectId: number, filters: Static<typeof OrphanFilters>): OrphansQuery {
  return { projectId, ...pageOf(filters) }
}

function pageOf({ limit, cursor }: Static<typeof OrphanFilters>): Pick<OrphansQuery, 'limit' | 'cursor'> {
  return {
    limit: limit ?? (cursor === undefined ? null : DEFAULT_LIMIT),
    cursor: cursor === undefined ? null : decodePathCursor(cursor),
  }
}
