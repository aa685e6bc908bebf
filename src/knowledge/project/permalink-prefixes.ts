import type { Project } from '../note/note.ts'

export type PrefixedProject = Pick<Project, 'permalink' | 'formerPermalinks'>

// Who gives a project one name after the other has no notes from the time of each.
const MOST_FORMER = 20

/** What permalinks of its notes may begin with, and callers may leave out: its name, and those it had when notes were written. */
export function permalinkPrefixes({ permalink, formerPermalinks }: PrefixedProject): string[] {
  return formerPermalinks === ''
    ? [`${permalink}/`]
    : [permalink, ...formerOf(formerPermalinks)].map((one) => `${one}/`)
}

/** What somebody may mean who names a note by its permalink, or leaves out what it begins with. */
export function withPrefixes(project: PrefixedProject, name: string): string[] {
  return [name, ...permalinkPrefixes(project).map((prefix) => prefix + name)]
}

/** What is to be remembered when the project is called otherwise from now on. */
export function formerAfter(before: PrefixedProject, permalink: string): string {
  const former = new Set([before.permalink, ...formerOf(before.formerPermalinks)])
  former.delete(permalink)
  return [...former].slice(0, MOST_FORMER).join('/')
}

function formerOf(joined: string): string[] {
  return joined === '' ? [] : joined.split('/')
}
