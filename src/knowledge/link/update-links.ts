import { isAppError } from '../../platform/errors/app-error.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import type { Note, NoteWithContent, Project } from '../note/note.ts'
import { findNoteById } from '../note/store-notes.ts'
import { divideAtFirst, literalDivisions } from '../text/body/anchors.ts'
import { readTarget } from '../text/body/wikilinks.ts'
import { splitText } from '../text/frontmatter/frontmatter.ts'
import { slug } from '../text/name/slug.ts'
import { inTurns } from '../text/steps.ts'
import { type Ask, askOf } from './ask.ts'
import { resolveAsks } from './resolve-exactly.ts'
import type { Choice } from './resolver.ts'
import { rewritingLinks } from './rewrite-links.ts'
import { type IncomingLink, linksTo } from './store-incoming.ts'

/** One note in which links were rewritten. */
export interface UpdatedLinks {
  external_id: string
  file_path: string
  count: number
}

/** A text that no note may have is `invalid_argument`, and then nothing was changed. */
export type SaveText = (linking: NoteWithContent, text: string) => Promise<unknown>

const LINKS_AT_ONCE = 1_000

/**
 * Rewrites the links of other notes that reach the note only by a name it had before, so that they say what it is called
 * now. Links that no name of the note can be written into stay, as do those of a note that would become too long; they go on
 * reaching it.
 */
export async function updateLinks(
  tx: Transaction,
  project: Project,
  note: Note,
  save: SaveText,
): Promise<UpdatedLinks[]> {
  const updated: UpdatedLinks[] = []
  const update = async (outdated: readonly IncomingLink[]) => {
    for (const [fromId, links] of Map.groupBy(outdated, ({ from_id }) => from_id)) {
      const linking = await findNoteById(tx, fromId)
      if (linking === undefined) continue
      const { text, count } = await rewritten(tx, linking, await newNames(tx, project, note, links))
      if (count === 0 || !(await isSaved(save(linking, text)))) continue
      updated.push({ external_id: linking.external_id, file_path: linking.file_path, count })
    }
  }
  // Of the last note that was read: there may be more of them.
  let rest: IncomingLink[] = []
  for await (const links of linksTo(tx, note.id)) {
    const last = links.at(-1)?.from_id
    const outdated = [...rest, ...(await notMeaning(tx, project, note, namedOnce(links)))]
    await update(outdated.filter(({ from_id }) => from_id !== last))
    rest = namedOnce(outdated.filter(({ from_id }) => from_id === last))
  }
  await update(rest)
  return updated
}

/** Of the links of a note with the same name, one is enough: all of them are rewritten alike. */
function namedOnce(links: readonly IncomingLink[]): IncomingLink[] {
  return [...new Map(links.map((link) => [`${link.from_id} ${link.to_name}`, link])).values()]
}

async function notMeaning(
  tx: Transaction,
  project: Project,
  note: Note,
  links: readonly IncomingLink[],
): Promise<IncomingLink[]> {
  const choices = await resolveAsks(tx, project, links.map(askOf), { withRetired: false, breathe: () => tx.breathe() })
  return links.filter((_link, at) => !isChosen(choices[at], note))
}

/** Whether the note is meant, and where it is given the place in it. */
function isChosen(choice: Choice | undefined, note: Note, anchor?: string | null): boolean {
  if (choice === null || choice === undefined || !('note' in choice)) return false
  return choice.note.id === note.id && (anchor === undefined || choice.anchor === anchor)
}

async function rewritten(tx: Transaction, { content }: NoteWithContent, names: ReadonlyMap<string, string>) {
  const { head, body } = splitText(content)
  const rewriting = rewritingLinks(body, ({ name }) => names.get(name))
  const { body: after, count } = await inTurns(rewriting, () => tx.breathe())
  return { text: head + after, count }
}

/** False: the note would become one that no note may be. */
async function isSaved(saving: Promise<unknown>): Promise<boolean> {
  try {
    await saving
    return true
  } catch (error) {
    if (isAppError(error, 'invalid_argument')) return false
    throw error
  }
}

/** For the name in each link the one to write instead: of those that would mean the note, the one most like it. */
async function newNames(
  tx: Transaction,
  project: Project,
  note: Note,
  links: readonly IncomingLink[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (let start = 0; start < links.length; start += LINKS_AT_ONCE) {
    const wishes = links.slice(start, start + LINKS_AT_ONCE).flatMap((link) =>
      namesLike(note, writtenTarget(link)).flatMap((target) => {
        const ask = askFor(target, link)
        return ask === null ? [] : [{ link, ask }]
      }),
    )
    const asks = wishes.map(({ ask }) => ask)
    const choices = await resolveAsks(tx, project, asks, { withRetired: false, breathe: () => tx.breathe() })
    for (const [at, { link, ask }] of wishes.entries()) {
      if (!names.has(link.to_name) && isChosen(choices[at], note, link.anchor)) names.set(link.to_name, ask.name)
    }
  }
  return names
}

/** What was written before the anchor; a "#" may be part of the name. */
function writtenTarget({ to_name: name, anchor }: IncomingLink): string {
  if (anchor === null) return name
  const divisions = [...literalDivisions(name), divideAtFirst(name)]
  return divisions.find((division) => division.anchor === anchor)?.text ?? name
}

/** What the note is called, beginning with the kind of name that was written before. */
function namesLike(note: Note, written: string): string[] {
  const stem = note.file_path.replace(/\.md$/, '')
  const permalink = note.permalink === null ? [] : [note.permalink]
  if (written.endsWith('.md')) return [note.file_path, ...permalink, note.title]
  if (!written.includes('/')) return [note.title, stem, ...permalink]
  return written === slug(written) ? [...permalink, stem, note.title] : [stem, ...permalink, note.title]
}

/** How a link with that target would be read; null when it cannot be written as a link. */
function askFor(target: string, { anchor, source_path: sourcePath }: IncomingLink): Ask | null {
  const name = anchor === null ? target : `${target}#${anchor}`
  // NOTE Code, comments and escapes reach beyond the brackets: with one of them, the link might be none in its text.
  if (/[[\]|\n`\\]|<!--/.test(target) || target.includes('::')) return null
  const read = readTarget(name)
  if (read === null || read.name !== name) return null
  return { target: read.target, name, sourcePath }
}
