import { parseBareId } from '../../platform/ids/uuid.ts'
import type { Project } from '../note/note.ts'
import { permalinkPrefixes } from '../project/permalink-prefixes.ts'
import { foldName } from '../project/project-name.ts'
import { type Division, divideAtFirst, literalDivisions } from '../text/body/anchors.ts'
import { MEMORY_SCHEME } from '../text/name/memory-scheme.ts'
import { nameKey } from '../text/name/name-key.ts'
import { folderOf } from '../text/name/path.ts'
import { slug } from '../text/name/slug.ts'

/** A text that should name a note. `name` has the anchor that `target` lacks; they are equal where there is none. */
export interface Ask {
  target: string
  name: string
  /** The path of the note in which it stands; null when it stands in none. */
  sourcePath: string | null
  /** As it was sent, where that was read as something else: `A|B` may be a name. */
  sent?: string | undefined
}

/** What a stored link asks for, whatever it is bound to. */
export function askOf(link: { to_name: string; source_path: string }): Ask {
  return askOfLink({ target: divideAtFirst(link.to_name).text, name: link.to_name }, link.source_path)
}

/** Whoever sends an address means a note by what stands behind its scheme, and so does a link with one. */
export function askOfLink({ target, name }: { target: string; name: string }, sourcePath: string): Ask {
  const address = withoutScheme(target)
  if (address === target) return { target, name, sourcePath }
  return { target: address, name: withoutScheme(name), sourcePath, sent: name }
}

/** A text that is nothing but a scheme stays. */
export function withoutScheme(text: string): string {
  return (text.startsWith(MEMORY_SCHEME) && text.slice(MEMORY_SCHEME.length).trim()) || text
}

/** The ways to read it as a name with a "#" in it. */
export function literalsOf({ name, target }: Ask): Division[] {
  return name === target ? [] : literalDivisions(name)
}

/** What stands behind the target. */
export function anchorOf({ name, target }: Ask): string | null {
  return name === target ? null : divideAtFirst(name).anchor
}

/** A way to read an ask: the text as it is, or without the name of this project before it. */
export interface Reading {
  text: string
  /** In the order in which they count. */
  permalinks: readonly string[]
  /** Its path from the folder of the source; null where it does not count from there. */
  relative: string | null
  /** That the ask can be, in any reading. A note that has one of them is no guess, as one with a similar permalink is. */
  paths: readonly string[]
}

/** Neither more nor less than the text. */
export function verbatim(text: string): Reading {
  return { text, permalinks: [text], relative: null, paths: [] }
}

export function readingsOf(project: Project, { target, sourcePath }: Ask): Reading[] {
  if (target === '') return []
  const slugged = slug(target)
  const prefixes = permalinkPrefixes(project)
  const permalinks = [target, slugged, ...prefixes.map((prefix) => prefix + slugged)]
  const paths = [target, `${target}.md`]
  const whole = { text: target, permalinks, relative: relativeTo(sourcePath, target), paths }
  const slash = target.indexOf('/')
  if (slash <= 0 || slash === target.length - 1) return [whole]
  const first = target.slice(0, slash)
  const prefix = `${slug(first)}/`
  const isPrefix = prefixes.includes(prefix)
  // `mywork` is no slug of "MyWork", which is `my-work`, and an emoji has none.
  if (!isPrefix && foldName(first) !== foldName(project.name)) return [whole]
  const text = target.slice(slash + 1)
  permalinks.push(isPrefix ? slugged.slice(prefix.length) : slug(text))
  paths.push(text, `${text}.md`)
  return [whole, { text, permalinks: [text, slug(text)], relative: null, paths }]
}

/**
 * Under which keys the notes are found that `choose` must see: all that could be meant and some that could not. The first one is that
 * of the target.
 */
export function askedKeys(project: Project, ask: Ask): string[] {
  const { target, sourcePath, sent } = ask
  const keys: string[] = []
  if (target !== '') {
    keys.push(targetKey(target))
    if (isFromHere(target)) keys.push(nameKey(target))
    for (const prefix of permalinkPrefixes(project)) keys.push(nameKey(prefix + target))
    const relative = sourcePath === null ? null : relativeTo(sourcePath, target)
    if (relative !== null && relative !== target) keys.push(nameKey(relative))
    const slash = target.indexOf('/')
    if (slash > 0) keys.push(nameKey(target.slice(slash + 1)))
  }
  for (const { text } of literalsOf(ask)) keys.push(nameKey(text))
  if (sent !== undefined) keys.push(nameKey(sent))
  return keys
}

/** Paths and permalinks that would be exactly the note, or its namesake in the folders around. */
export function literalNames(project: Project, ask: Ask): string[] {
  const { sourcePath } = ask
  const names = literalsOf(ask).flatMap(({ text }) => [text, `${text}.md`])
  if (ask.sent !== undefined) names.push(ask.sent)
  for (const { text, permalinks, relative } of readingsOf(project, ask)) {
    names.push(...permalinks, text, `${text}.md`)
    if (isFromHere(text) && relative !== null) names.push(relative, `${relative}.md`)
    let folder = relative === null || sourcePath === null ? '' : folderOf(sourcePath)
    for (; folder !== ''; folder = folderOf(folder)) names.push(`${folder}/${text}`, `${folder}/${text}.md`)
  }
  return names
}

/** The external id that the text is, in canonical form. */
export function askedId({ target }: Ask): string | null {
  return target.length === 36 || target.length === 32 ? parseBareId(target) : null
}

/** Under which a text waits for its note: from whatever folder, the note has a path that ends so. */
export function targetKey(target: string): string {
  return nameKey(isFromHere(target) ? target.slice(HERE.length) : target)
}

const HERE = './'

/** Whether a text begins as a path from the folder in which it stands. A note may yet be called so. */
export function isFromHere(text: string): boolean {
  return text.startsWith(HERE) && text.length > HERE.length
}

/** The path that the text is from the folder of the source; `./` says so by itself, where there is none from the root. */
function relativeTo(sourcePath: string | null, text: string): string | null {
  const folder = sourcePath === null ? '' : folderOf(sourcePath)
  if (isFromHere(text)) return within(folder, text.slice(HERE.length))
  return sourcePath === null ? null : within(folder, text)
}

function within(folder: string, text: string): string {
  return folder === '' ? text : `${folder}/${text}`
}
