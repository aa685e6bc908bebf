import { slug } from '../../src/knowledge/text/name/slug.ts'

/** All that a text can mean a note by. */
export interface NamedNote {
  title: string
  path: string
  permalink: string
  aliases: readonly string[]
  /** What it was called before, in this order of right: permalinks, paths, titles. */
  retired: { permalinks: ReadonlySet<string>; paths: ReadonlySet<string>; titles: ReadonlySet<string> }
}

export interface NamedText {
  name: string
  /** Without the anchor. */
  target: string
}

/** A note and what a text says behind its name. */
export interface Meant<N> {
  note: N
  anchor: string | null
}

/** The rules of resolving, read over every note one by one, without any index of names. */
export function naiveResolve<N extends NamedNote>(
  project: string,
  notes: readonly N[],
  { name, target }: NamedText,
  source: string | null,
): Meant<N> | undefined {
  const readings = [{ text: target, isWhole: true }]
  const slash = target.indexOf('/')
  const rest = target.slice(slash + 1)
  if (slash > 0 && rest !== '' && slug(target.slice(0, slash)) === project) {
    readings.push({ text: rest, isWhole: false })
  }
  const anchor = behind(name, target)
  const literals = literalTexts(name, target)
  const paths = readings.flatMap(({ text }) => [text, `${text}.md`])
  const [there] = paths.flatMap((path) => notes.filter((note) => note.path === path))
  const steps: [anchor: string | null, step: () => N | undefined][] = [
    ...literals.map((text) => step(behind(name, text), () => literally(notes, text, source))),
    ...readings.map((reading) => step(anchor, () => exactly(project, notes, reading, source, there))),
    ...literals.map((text) =>
      step(behind(name, text), () => byOldName(notes, [text], [text, `${text}.md`], text, source)),
    ),
    ...readings.map(({ text, isWhole }) =>
      step(anchor, () => {
        const here = isWhole ? placeFrom(source, text) : null
        const near = here === null ? [] : [`${here}.md`, here]
        const permalinks = permalinksFor(project, text, isWhole)
        return (
          byOldName(notes, permalinks, [...near, text, `${text}.md`], text, source) ??
          (here === null ? undefined : alikeBefore(notes, here)) ??
          alikeBefore(notes, text)
        )
      }),
    ),
  ]
  for (const [rest, find] of steps) {
    const note = find()
    if (note !== undefined) return { note, anchor: rest }
  }
  return undefined
}

function step<N>(anchor: string | null, find: () => N | undefined): [string | null, () => N | undefined] {
  return [anchor, find]
}

/** Of a text with an anchor, the whole, then what stands before its last "#". */
function literalTexts(name: string, target: string): string[] {
  if (name === target) return []
  const parts = name.split('#')
  return parts.length < 3 || parts.at(-1) === '' ? [name] : [name, parts.slice(0, -1).join('#')]
}

export function behind(name: string, text: string): string | null {
  return name === text ? null : name.slice(text.length + 1)
}

function literally<N extends NamedNote>(notes: readonly N[], name: string, source: string | null): N | undefined {
  const isNamed = (note: N) =>
    [note.title, note.permalink, note.path, note.path.replace(/\.md$/, '')].includes(name) ||
    note.aliases.some((alias) => same(alias, name))
  return nearest(notes.filter(isNamed), source)
}

function exactly<N extends NamedNote>(
  project: string,
  notes: readonly N[],
  { text, isWhole }: { text: string; isWhole: boolean },
  source: string | null,
  there: N | undefined,
): N | undefined {
  const at = (path: string) => notes.find((note) => note.path === path)
  const here = isWhole ? placeFrom(source, text) : null
  if (here !== null && text.includes('/')) {
    const found = at(`${here}.md`) ?? at(here)
    if (found) return found
  }
  const linked = permalinksFor(project, text, isWhole)
    .flatMap((wanted) => notes.filter(({ permalink }) => permalink === wanted))
    .filter((note) => there === undefined || note === there || note.permalink === text)
  if (source === null && linked.length > 0) return linked[0]
  const titled = notes.filter(({ title }) => title === text)
  const nicknamed = notes.filter(({ aliases }) => aliases.some((alias) => same(alias, text)))
  const alike = (path: string) => {
    const found = notes.filter((note) => same(note.path, path, true) || same(note.path, `${path}.md`, true))
    return found.length === 1 ? found[0] : undefined
  }
  return (
    nearest([...linked, ...titled], source) ??
    nearest(nicknamed, source) ??
    at(text) ??
    at(`${text}.md`) ??
    (here === null ? undefined : alike(here)) ??
    alike(text)
  )
}

function permalinksFor(project: string, text: string, isWhole: boolean): string[] {
  const slugged = slug(text)
  if (!isWhole) return [text, slugged]
  const rest = slugged.startsWith(`${project}/`) ? [slugged.slice(project.length + 1)] : []
  return [text, slugged, `${project}/${slugged}`, ...rest]
}

function byOldName<N extends NamedNote>(
  notes: readonly N[],
  permalinks: readonly string[],
  paths: readonly string[],
  title: string,
  source: string | null,
): N | undefined {
  for (const wanted of permalinks) {
    const hits = notes.filter(({ retired }) => retired.permalinks.has(wanted))
    if (hits.length > 0) return nearest(hits, source)
  }
  for (const wanted of paths) {
    const hits = notes.filter(({ retired }) => retired.paths.has(wanted))
    if (hits.length > 0) return nearest(hits, source)
  }
  return nearest(
    notes.filter(({ retired }) => retired.titles.has(title)),
    source,
  )
}

function alikeBefore<N extends NamedNote>(notes: readonly N[], path: string): N | undefined {
  const found = notes.filter(({ retired }) =>
    [...retired.paths].some((old) => same(old, path, true) || same(old, `${path}.md`, true)),
  )
  return found.length === 1 ? found[0] : undefined
}

function same(a: string, b: string, isPath = false): boolean {
  const plain = (text: string) => (isPath ? text.replaceAll('_', '-') : text).toLowerCase()
  return plain(a) === plain(b)
}

/** The path that a text is from the folder of the source, which a dot says by itself; else null without a source. */
function placeFrom(source: string | null, text: string): string | null {
  const folder = folderOf(source)
  if (text.startsWith('./')) return (folder ?? '') + text.slice(2)
  return folder === null ? null : folder + text
}

/** With a slash at its end; null without a source. */
function folderOf(source: string | null): string | null {
  return source === null ? null : source.slice(0, source.lastIndexOf('/') + 1)
}

function nearest<N extends NamedNote>(notes: readonly N[], source: string | null): N | undefined {
  const home = source === null ? null : source.split('/').slice(0, -1)
  const rank = ({ path }: N) => {
    if (home === null) return 0
    const there = path.split('/').slice(0, -1)
    if (!there.every((folder, at) => at >= home.length || folder === home[at])) return 1000
    return there.length <= home.length ? home.length - there.length : 100 + there.length - home.length
  }
  return [...notes].sort((a, b) => {
    return rank(a) - rank(b) || a.path.length - b.path.length || (a.path < b.path ? -1 : 1)
  })[0]
}
