import type { Static } from 'typebox'
import { AppError } from '../../platform/errors/app-error.ts'
import { typeKeys } from '../search/filter/metadata-values.ts'
import { unicodeForms } from '../search/words/unicode-forms.ts'
import { dropUnstorable } from '../text/clean-text.ts'
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
  const keys = type === undefined ? null : allTypeKeys(dropUnstorable(type))
  return { projectId, typeKeys: keys, folder, limit, after: cursor?.path ?? null }
}

/** Notes that an earlier version wrote have the key in the Unicode form in which their type was typed. */
function allTypeKeys(type: string): string[] {
  return [...new Set(typeKeys(type).flatMap(unicodeForms))]
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
