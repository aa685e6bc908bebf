import { AppError } from '../../platform/errors/app-error.ts'
import { isLonger } from '../../platform/text/is-longer.ts'
import { slug } from '../text/name/slug.ts'

export const LONGEST_NAME = 100

export interface ProjectName {
  name: string
  nameFolded: string
  permalink: string
}

/** What is wrong with a name, as the rest of a sentence that begins with the name of the member. */
export function nameProblem(text: string): string | undefined {
  const name = text.trim()
  if (name === '') return 'must not be empty'
  if (isLonger(name, LONGEST_NAME)) return `must have at most ${LONGEST_NAME} characters`
  if (!name.isWellFormed() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return 'must not hold control characters'
  return undefined
}

/** The keys by which a name is unique: names that differ only in case or in their slug would be mixed up. */
export function projectName(text: string, externalId: string): ProjectName {
  const problem = nameProblem(text)
  if (problem !== undefined) throw new AppError('invalid_argument', `The name of a project ${problem}`)
  const name = text.trim().normalize('NFC')
  return { name, nameFolded: foldName(name), permalink: projectSlug(name) || `project-${externalId.slice(-12)}` }
}

export function foldName(name: string): string {
  // Lower case alone leaves apart what upper case joins, such as ß and ss.
  return name.trim().normalize('NFC').toUpperCase().toLowerCase()
}

/** One segment, because permalinks of notes begin with it. Empty when nothing of the text is left. */
export function projectSlug(name: string): string {
  return slug(name.replaceAll(/[/\\]/g, ' '))
}

/**
 * The keys of a deleted project, so that its name is free at once: no name begins with a blank, no slug with a slash.
 * `purging`: its notes are being taken away, and it cannot come back any more.
 */
export function retiredKeys(stage: 'deleted' | 'purging', externalId: string): Omit<ProjectName, 'name'> {
  return { nameFolded: ` ${stage} ${externalId}`, permalink: `/${externalId}` }
}
