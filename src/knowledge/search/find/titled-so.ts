import type { Reader } from '../../../platform/storage/database.ts'
import { findNames } from '../../link/store-names.ts'
import type { Project } from '../../note/note.ts'
import { nameKey } from '../../text/name-key.ts'
import { indexWords } from '../words/search-text.ts'

const MOST_WORDS = 32

/** Notes whose title is these words and nothing else, in whatever spelling. */
export async function titledSo(reader: Reader, project: Project, words: readonly string[]): Promise<Set<number>> {
  if (words.length === 0 || words.length > MOST_WORDS) return new Set()
  const asked = words.join(' ')
  const { names } = await findNames(reader, project.id, [nameKey(asked)])
  return new Set(names.filter(({ title }) => indexWords(title).join(' ') === asked).map(({ id }) => id))
}
