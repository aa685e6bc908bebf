import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Note, NoteRef, Project } from '../note/note.ts'
import { NAME_KINDS } from '../tables.ts'
import { nameKey } from '../text/name/name-key.ts'
import { permalinkFor, slug } from '../text/name/slug.ts'
import { type Ask, askedKeys, targetKey } from './ask.ts'
import { waitedKeys, waitedPartKeys } from './bind-links.ts'
import { namesOf } from './names.ts'
import { type ChooseOptions, choose, namesWith } from './resolver.ts'

const MAIN: Project = { id: 1, externalId: '', name: 'Main', permalink: 'main', formerPermalinks: '' }
const RENAMED: Project = { ...MAIN, formerPermalinks: 'was/earlier' }

interface Sample {
  note: NoteRef
  aliases: string[]
  /** What it was called before. */
  former: [kind: number, value: string][]
}

let nextId = 1

function sample(path: string, more: Partial<NoteRef> & Partial<Omit<Sample, 'note'>> = {}): Sample {
  const id = nextId++
  const external_id = `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`
  const { aliases = [], former = [], ...names } = more
  const title = path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, '')
  const permalink = permalinkFor(MAIN, path, external_id, true)
  return { note: { id, external_id, title, permalink, file_path: path, ...names }, aliases, former }
}

/** As the store finds names: by key alone. */
function choosing(samples: readonly Sample[], ask: Ask, options?: ChooseOptions, project = MAIN) {
  const names = samples.flatMap(({ note, aliases, former }) => {
    const before = former.map(([kind, value]) => ({ kind, value, key: nameKey(value) }))
    return [...namesOf(note, aliases), ...before].map((name) => ({ ...note, ...name }))
  })
  const index = Map.groupBy(names, ({ key }) => key)
  return choose(project, ask, namesWith(index, askedKeys(project, ask)), options)
}

function ask(name: string, sourcePath: string | null = null): Ask {
  const hash = name.indexOf('#')
  return { name, target: hash < 0 ? name : name.slice(0, hash).trimEnd(), sourcePath }
}

function pathFor(samples: readonly Sample[], name: string, source: string | null = null, options?: ChooseOptions) {
  const choice = choosing(samples, ask(name, source), options)
  if (choice === null) return null
  return 'note' in choice ? choice.note.file_path : choice.several.map(({ file_path }) => file_path)
}

describe('which note a text means', () => {
  test('titles are exact, aliases are not', () => {
    const notes = [sample('food/Coffee Brewing.md', { aliases: ['Espresso Guide'] })]
    assert.equal(pathFor(notes, 'Coffee Brewing'), 'food/Coffee Brewing.md')
    assert.equal(pathFor(notes, 'coffee brewing'), null)
    assert.equal(pathFor(notes, 'espresso guide'), 'food/Coffee Brewing.md')
  })

  test('a permalink is found with and without the project, and by what would become it', () => {
    const notes = [sample('food/Coffee Brewing.md')]
    for (const text of [
      'main/food/coffee-brewing',
      'food/coffee-brewing',
      'Food/Coffee Brewing',
      'food/CoffeeBrewing',
    ]) {
      assert.equal(pathFor(notes, text), 'food/Coffee Brewing.md', text)
    }
    assert.equal(pathFor([sample('x.md', { permalink: 'own' })], 'main/own'), 'x.md')
  })

  test('without a source a permalink comes before titles, and of titles the shortest path', () => {
    const notes = [
      sample('b/Topic.md'),
      sample('long/Topic.md'),
      sample('a/Topic.md'),
      sample('z.md', { permalink: 'topic' }),
    ]
    assert.equal(pathFor(notes, 'Topic'), 'z.md')
    assert.equal(pathFor(notes.slice(0, 3), 'Topic'), 'a/Topic.md')
  })

  test('the note with exactly that path comes before one whose permalink only resembles the text', () => {
    const moved = sample('b/X.md', { permalink: 'main/a/x' })
    const notes = [moved, sample('a/X.md', { permalink: 'main/a/x-1' })]
    for (const text of ['a/X.md', 'a/X', 'main/a/X', 'main/a/X.md']) {
      for (const source of [null, 'b/log.md', 'c/log.md']) assert.equal(pathFor(notes, text, source), 'a/X.md', text)
    }
    for (const text of ['main/a/x', 'a/x', 'A/X']) assert.equal(pathFor(notes, text), 'b/X.md', text)
    assert.equal(pathFor([moved], 'a/X.md'), 'b/X.md')
  })

  test('with a source the nearest wins: the folder itself, above it, below it, elsewhere', () => {
    const paths = ['x/y/T.md', 'x/T.md', 'T.md', 'x/y/z/T.md', 'x/y/z/w/T.md', 'o/T.md', 'o/oo/T.md']
    for (let left = paths.length; left > 0; left--) {
      const rest = paths.slice(paths.length - left)
      const notes = rest.toReversed().map((path) => sample(path, { permalink: null }))
      assert.equal(pathFor(notes, 'T', 'x/y/log.md'), rest[0])
    }
  })

  test('a text with a slash is tried in the folder of the source first', () => {
    const notes = [sample('a/b/c.md'), sample('b/c.md')]
    assert.equal(pathFor(notes, 'b/c', 'a/log.md'), 'a/b/c.md')
    assert.equal(pathFor(notes, 'b/c', 'o/log.md'), 'b/c.md')
    assert.equal(pathFor(notes, 'b/c.md', 'a/log.md'), 'a/b/c.md')
  })

  test('a dot at the beginning is the folder of the source, or the root without one', () => {
    const notes = [sample('Note.md'), sample('a/Note.md'), sample('a/b/My_Note.md', { permalink: null })]
    for (const text of ['./Note', './Note.md', './note', './Note#part']) {
      assert.equal(pathFor(notes, text, 'a/log.md'), 'a/Note.md', text)
      assert.equal(pathFor(notes, text, 'log.md'), 'Note.md', text)
      assert.equal(pathFor(notes, text), 'Note.md', text)
      assert.equal(pathFor(notes, text, 'a/b/log.md'), null, text)
    }
    assert.equal(pathFor(notes, './b/my-note', 'a/log.md'), 'a/b/My_Note.md')
    const former: Sample['former'] = [[NAME_KINDS.retiredPath, 'a/Old.md']]
    assert.equal(pathFor([sample('z/New.md', { permalink: null, former })], './Old', 'a/log.md'), 'z/New.md')
    const titled = [sample('z/run.md', { title: './run' })]
    assert.equal(pathFor(titled, './run', 'a/log.md'), 'z/run.md')
    assert.equal(pathFor([...titled, sample('a/run.md')], './run', 'a/log.md'), 'a/run.md')
  })

  test('paths are forgiven their case and hyphens while only one note can be meant', () => {
    const one = sample('Docs/My_Note.md', { permalink: null, title: 'T' })
    const two = sample('docs/my-note.md', { permalink: null, title: 'U' })
    assert.equal(pathFor([one], 'docs/MY-NOTE'), 'Docs/My_Note.md')
    assert.equal(pathFor([one, two], 'docs/MY-NOTE'), null)
    assert.equal(pathFor([one], 'my-note', 'Docs/log.md'), 'Docs/My_Note.md')
  })

  test('capitals of more letters, and a sigma that ends a word in one of them, are another case and no other name', () => {
    const notes = [
      sample('orte/Hauptstraße.md', { permalink: null, aliases: ['Große Straße'] }),
      sample('μύθοι/Σίσυφος.md', { permalink: null, aliases: ['ΑΣ.ΒΣ'] }),
      sample('x/Proﬁle.md', { permalink: null }),
    ]
    for (const text of ['ORTE/HAUPTSTRASSE', 'orte/hauptstrasse.md', 'ORTE/HAUPTSTRAẞE.MD', 'GROSSE STRASSE']) {
      assert.equal(pathFor(notes, text), 'orte/Hauptstraße.md', text)
    }
    for (const text of ['ΜΎΘΟΙ/ΣΊΣΥΦΟΣ', 'ΜΎΘΟΙ/ΣΊΣΥΦΟΣ.MD', 'ας.βς', 'ασ.βσ']) {
      assert.equal(pathFor(notes, text), 'μύθοι/Σίσυφος.md', text)
    }
    assert.equal(pathFor(notes, 'X/PROFILE'), 'x/Proﬁle.md')
    const alike = ['a/Maße.md', 'A/MASSE.md'].map((path) => sample(path, { permalink: null }))
    assert.equal(pathFor(alike, 'a/masse'), null)
    assert.equal(pathFor(alike.slice(0, 1), 'MASSE'), null)
  })

  test('a name is the same in every Unicode form, but not in another case', () => {
    for (const title of ['Ångström Note', '한글 노트', 'Café']) {
      const forms = [title.normalize('NFC'), title.normalize('NFD')] as const
      for (const [own, other] of [forms, forms.toReversed() as [string, string]]) {
        const notes = [sample('x/plain.md', { title: own, permalink: null })]
        assert.equal(pathFor(notes, other), 'x/plain.md', title)
        assert.equal(pathFor(notes, `${other}#part`, 'y/log.md'), 'x/plain.md', title)
      }
    }
    assert.equal(pathFor([sample('x/plain.md', { title: 'Café', permalink: null })], 'CAFE\u0301'), null)
  })

  test('strict refuses to guess between titles, unless one is named by its permalink or path', () => {
    const notes = [sample('aa/T.md'), sample('b/T.md')]
    const strict = { isStrict: true }
    assert.deepEqual(pathFor(notes, 'T', null, strict), ['b/T.md', 'aa/T.md'])
    assert.equal(pathFor(notes, 'T', 'b/log.md', strict), 'b/T.md')
    assert.equal(pathFor([...notes, sample('c.md', { permalink: 'T' })], 'T', null, strict), 'c.md')
    assert.equal(pathFor(notes, 'aa/T.md', null, strict), 'aa/T.md')
    const nicknamed = [sample('1.md', { aliases: ['N'] }), sample('2.md', { aliases: ['n'] })]
    assert.deepEqual(pathFor(nicknamed, 'N', null, strict), ['1.md', '2.md'])
  })

  test('an anchor is left out unless a note is called so literally', () => {
    const notes = [sample('C.md'), sample('C# guide.md'), sample('c-section.md')]
    assert.equal(pathFor(notes, 'C# guide'), 'C# guide.md')
    assert.equal(pathFor(notes, 'C#section'), 'C.md')
    assert.equal(pathFor(notes, 'C#^block'), 'C.md')
    assert.equal(pathFor(notes, 'Unknown#x'), null)
    assert.equal(pathFor(notes, 'C# guide#part'), 'C# guide.md')
    assert.equal(pathFor(notes, 'C# guide#part#deeper'), 'C.md')
  })

  test('a path that a note had before leads to it, as written or from the folder of the source', () => {
    const moved = sample('z/New.md', { permalink: null, former: [[NAME_KINDS.retiredPath, 'a/b/Old.md']] })
    const other = sample('z/Other.md', { permalink: null, former: [[NAME_KINDS.retiredPath, 'A/b/old.md']] })
    for (const notes of [[moved], [other, moved]]) {
      assert.equal(pathFor(notes, 'a/b/Old.md'), 'z/New.md')
      assert.equal(pathFor(notes, 'a/b/Old'), 'z/New.md')
      assert.equal(pathFor(notes, 'b/Old', 'a/log.md'), 'z/New.md')
      assert.equal(pathFor(notes, 'b/Old.md', 'a/log.md'), 'z/New.md')
      assert.equal(pathFor(notes, 'a/b/Old', null, { withRetired: false }), null)
    }
    assert.equal(pathFor([moved], 'A/B/OLD'), 'z/New.md')
    assert.equal(pathFor([moved, other], 'A/B/OLD'), null, 'both could be meant')
    assert.equal(pathFor([moved], 'a/b-/old'), null, 'found by its key, and yet another path')
  })

  test('a name that a note has comes before one that another note had', () => {
    const former = sample('x.md', { permalink: null, former: [[NAME_KINDS.retiredTitle, 'C# guide']] })
    assert.equal(pathFor([former], 'C# guide'), 'x.md')
    assert.equal(pathFor([former, sample('C.md')], 'C# guide'), 'C.md')
  })

  test('a title with colons is found by the slash that links have for them, letter by letter', () => {
    const notes = [sample('x.md', { title: 'std::vector', permalink: null })]
    assert.equal(pathFor(notes, 'std/vector'), 'x.md')
    assert.equal(pathFor(notes, 'std/Vector'), null)
  })

  test('what was sent is read as it is before anything is cut off it', () => {
    const sent = (text: string): Ask => ({ ...ask('Plan'), sent: text })
    const notes = [sample('Plan.md'), sample('b.md', { aliases: ['Plan | B'] }), sample('c.md', { title: 'Plan|C' })]
    for (const [text, path] of Object.entries({ 'plan | b': 'b.md', 'Plan|C': 'c.md', 'Plan|D': 'Plan.md' })) {
      const choice = choosing(notes, sent(text))
      assert.equal(choice !== null && 'note' in choice && choice.note.file_path, path, text)
    }
  })

  test('the name of this project before a title means this project', () => {
    assert.equal(pathFor([sample('deep/Some Title.md')], 'main/Some Title'), 'deep/Some Title.md')
    assert.equal(pathFor([sample('deep/Some Title.md')], 'other/Some Title'), null)
  })

  test('what names nothing is nothing', () => {
    const notes = [sample('a.md'), sample('😀.md')]
    for (const text of ['', '/', '.', '-', '../a', '🙂', 'main/', '*'])
      assert.equal(pathFor(notes, text, 'x/y.md'), null, text)
    assert.equal(pathFor(notes, '😀'), '😀.md')
  })
})

describe('against every note read by the rules, one by one', () => {
  const PARTS = [
    'a',
    'A',
    'a-b',
    'A_b',
    'aB',
    'main',
    'was',
    'C#',
    'C',
    'é',
    'e\u0301',
    '测试x',
    'x.txt',
    'y.md',
    'Ab',
    '😀',
    "a'b",
    'a.b',
  ]
  const PROJECT = ['main', 'was', 'earlier']
  // A fixed sequence: the same sets of notes in every run.
  let state = 20_260_725
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const part = () => PARTS[random(PARTS.length)] as string
  const text = () => Array.from({ length: 1 + random(3) }, part).join('/')

  function randomNotes(): Sample[] {
    const notes = new Map<string, Sample>()
    const permalinks = new Set<string>()
    for (let left = 1 + random(6); left > 0; left--) {
      const path = `${text()}.md`
      const made = sample(path, {
        ...(random(3) === 0 && { permalink: permalinkFor({ permalink: 'was' }, path, '', true) }),
        ...(random(3) === 0 && { title: random(8) === 0 ? `./${part()}` : part() }),
        ...(random(4) === 0 && { permalink: random(2) === 0 ? null : text() }),
        ...(random(3) === 0 && { aliases: [part(), text()] }),
      })
      const { permalink } = made.note
      if (notes.has(path) || (permalink !== null && permalinks.has(permalink))) continue
      if (permalink !== null) permalinks.add(permalink)
      notes.set(path, made)
    }
    return [...notes.values()]
  }

  test('the look-up by keys finds the same note, and a new note finds every text that means it', () => {
    let hits = 0
    for (let round = 0; round < 20_000; round++) {
      const notes = randomNotes()
      const sourcePath = random(3) === 0 ? null : `${text()}.md`
      const written = random(6) === 0 ? `${text()}#${part()}` : text()
      const name = random(8) === 0 ? `./${written}` : written
      const question = ask(name, sourcePath)
      const expected = naive(notes, question)
      const choice = choosing(notes, question, {}, RENAMED)
      const found = choice !== null && 'note' in choice ? choice.note : null
      const story = () => JSON.stringify({ question, notes: notes.map(({ note, aliases }) => ({ ...note, aliases })) })
      assert.equal(found?.file_path, expected?.note.file_path, story())
      if (expected === undefined) continue
      hits++
      const names = namesOf(expected.note, expected.aliases)
      const isWaitedFor =
        waitedKeys(RENAMED, expected.note as Note, names).includes(targetKey(question.target)) ||
        names.some(({ key }) => key === nameKey(name)) ||
        (name.split('#').length > 2 && waitedPartKeys(expected.note, names).includes(targetKey(question.target)))
      assert.ok(isWaitedFor, story())
    }
    assert.ok(hits > 2000, `only ${hits} texts meant a note`)
  })

  function naive(notes: readonly Sample[], { name, target, sourcePath }: Ask): Sample | undefined {
    const last = name.lastIndexOf('#')
    const hasTwo = last !== name.indexOf('#') && last !== name.length - 1
    for (const literal of name === target ? [] : [name, ...(hasTwo ? [name.slice(0, last)] : [])]) {
      const whole = notes.filter(
        ({ note, aliases }) =>
          [note.title, note.permalink, note.file_path, note.file_path.replace(/\.md$/, '')].some((own) =>
            alike(own, literal),
          ) || aliases.some((alias) => same(alias, literal)),
      )
      if (whole.length > 0) return first(whole, sourcePath)
    }
    const isProject = PROJECT.includes(slug(target.split('/')[0] as string))
    const rest = isProject ? target.split('/').slice(1).join('/') : ''
    const paths = [target, `${target}.md`, ...(rest === '' ? [] : [rest, `${rest}.md`])]
    const [there] = paths.flatMap((path) => notes.filter(({ note }) => alike(note.file_path, path)))
    const whole = naiveText(notes, target, sourcePath, true, there)
    return whole ?? (rest === '' ? undefined : naiveText(notes, rest, sourcePath, false, there))
  }

  function naiveText(
    notes: readonly Sample[],
    wanted: string,
    source: string | null,
    isRelative: boolean,
    there: Sample | undefined,
  ) {
    const at = (path: string) => notes.find(({ note }) => alike(note.file_path, path))
    const folder = source === null ? null : source.split('/').slice(0, -1).concat('').join('/')
    const near = !isRelative
      ? null
      : wanted.startsWith('./')
        ? `${folder ?? ''}${wanted.slice(2)}`
        : within(folder, wanted)
    if (near !== null && wanted.includes('/')) {
      const found = at(`${near}.md`) ?? at(near)
      if (found) return found
    }
    const slugged = slug(wanted)
    const permalinks = [wanted, slugged, ...(isRelative ? PROJECT.map((name) => `${name}/${slugged}`) : [])]
    const named = PROJECT.find((name) => slugged.startsWith(`${name}/`))
    if (named !== undefined && isRelative) permalinks.push(slugged.slice(named.length + 1))
    const linked = permalinks
      .flatMap((permalink) => notes.filter(({ note }) => alike(note.permalink, permalink)))
      .filter((each) => there === undefined || each === there || alike(each.note.permalink, wanted))
    const titled = notes.filter(({ note }) => alike(note.title, wanted))
    if (source === null && linked.length > 0) return linked[0]
    if (linked.length + titled.length > 0) return first([...linked, ...titled], source)
    const nicknamed = notes.filter(({ aliases }) => aliases.some((alias) => same(alias, wanted)))
    if (nicknamed.length > 0) return first(nicknamed, source)
    const exact = at(wanted) ?? at(`${wanted}.md`)
    if (exact) return exact
    for (const path of [...(near === null ? [] : [near]), wanted]) {
      const forgiven = notes.filter(
        ({ note }) => same(note.file_path, path, true) || same(note.file_path, `${path}.md`, true),
      )
      if (forgiven.length === 1) return forgiven[0]
    }
    return undefined
  }

  function within(folder: string | null, wanted: string): string | null {
    return folder === null ? null : folder + wanted
  }

  function alike(one: string | null, other: string): boolean {
    return one?.normalize() === other.normalize()
  }

  function same(a: string, b: string, isPath = false): boolean {
    const plain = (value: string) => (isPath ? value.replaceAll('_', '-') : value).normalize().toLowerCase()
    return plain(a) === plain(b)
  }

  function first(notes: readonly Sample[], source: string | null): Sample | undefined {
    const home = source === null ? null : source.split('/').slice(0, -1)
    const rank = ({ note }: Sample) => {
      if (home === null) return 0
      const there = note.file_path.split('/').slice(0, -1)
      const shared = there.every((folder, at) => at >= home.length || folder === home[at])
      if (!shared) return 1000
      return there.length <= home.length ? home.length - there.length : 100 + there.length - home.length
    }
    return [...notes].sort((a, b) => {
      const [p, q] = [a.note.file_path, b.note.file_path]
      return rank(a) - rank(b) || p.length - q.length || (p < q ? -1 : 1)
    })[0]
  }
})
