import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { requireNote } from '../../src/knowledge/note/look-up.ts'
import { noteParts, toDocument } from '../../src/knowledge/note/note-document.ts'
import type { EntityDocument } from '../../src/knowledge/note/schema-notes.ts'
import { openSearchIndex } from '../../src/knowledge/search/index/open-search-index.ts'
import { nameText } from '../../src/knowledge/search/index/search-rows.ts'
import { findByNameWords } from '../../src/knowledge/search/index/store-search-rows.ts'
import { indexWords, queryWords } from '../../src/knowledge/search/words/search-text.ts'
import { readTarget } from '../../src/knowledge/text/body/wikilinks.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { type BatchStep, playBatch } from './batch-play.ts'
import type { NamedText } from './naive-resolver.ts'
import { NotesModel, Refused } from './notes-model.ts'
import { type Play, playOf, type Step } from './notes-play.ts'
import { foreseen, type NotesWorld, openWorld, seen } from './notes-world.ts'
import { assertSearchRows } from './search-rows-of.ts'

const TITLES = ['A', 'a b', 'A-B', 'B', 'C#', 'C', 'C#part']
const FOLDERS = ['', 'x', 'x/y', 'z']
const HERE = 'HERE'
const LINKS = [
  'A',
  'a b',
  'A-B',
  'a-b',
  'B',
  'C#',
  'C',
  'C#part',
  'C##part',
  'C#part#part',
  'x/C#part#part',
  'B#part',
  'x/A',
  'y/A',
  'x/y/B',
  'y/a_b',
  'Z/b',
  'x/A.md',
  './A',
  './y/B.md',
  './C#part',
  'B.md',
  'nick',
  'p',
  `${HERE}/x/a`,
  `${HERE}/B`,
]
const ALIASES = ['nick', 'Nick', 'B', 'x/A']
const PERMALINKS = ['p', 'A', 'x/a', `${HERE}/b`]
const SOURCES = [null, 'x/log.md', 'x/y/log.md']
const WORDS = ['a', 'b', 'c', 'x', 'a b', 'x y a', 'nothing']

const RUNS = { sqlite: 400, postgres: 120 }
// Hundreds of plays: nothing waits in them, and a busy machine takes several times as long.
const LIMIT_MS = 240_000

const someone = fc.nat({ max: 30 })
const title = fc.constantFrom(...TITLES)
const folder = fc.constantFrom(...FOLDERS)
const link = fc.record({ type: fc.constantFrom('links_to', 'uses'), text: fc.constantFrom(...LINKS) })
const aliases = fc.uniqueArray(fc.constantFrom(...ALIASES), { minLength: 1, maxLength: 2 })
const text = fc.record({
  aliases: fc.option(aliases, { freq: 2 }),
  permalink: fc.option(fc.constantFrom(...PERMALINKS), { freq: 2 }),
  links: fc.array(link, { maxLength: 4 }),
})
const written = { title, folder, text }

function kind<K extends Step['kind'], Members extends object>(
  name: K,
  members: { [M in keyof Members]: fc.Arbitrary<Members[M]> },
) {
  return fc.record({ kind: fc.constant(name), ...members }) as unknown as fc.Arbitrary<Step>
}

/** What can also be asked for together with others. */
const alone: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: kind('create', written) },
  { weight: 3, arbitrary: kind('put', { who: someone, ...written }) },
  { weight: 1, arbitrary: kind('put again', { which: someone, ...written }) },
  { weight: 2, arbitrary: kind('append', { who: someone, link }) },
  { weight: 1, arbitrary: kind('alias', { who: someone, aliases: fc.option(aliases) }) },
  { weight: 2, arbitrary: kind('retitle', { who: someone, title }) },
  { weight: 3, arbitrary: kind('move', { who: someone, title, folder }) },
  { weight: 3, arbitrary: kind('delete', { who: someone }) },
)

const batch: fc.Arbitrary<BatchStep> = fc.record({
  kind: fc.constant('batch' as const),
  isAtomic: fc.boolean(),
  steps: fc.array(alone, { minLength: 1, maxLength: 5 }),
})

const step: fc.Arbitrary<Step | BatchStep> = fc.oneof(
  { weight: 18, arbitrary: alone },
  { weight: 4, arbitrary: batch },
  { weight: 2, arbitrary: kind('move directory', { source: fc.constantFrom('x', 'x/y', 'z'), destination: folder }) },
  { weight: 1, arbitrary: kind('delete directory', { directory: fc.constantFrom('x', 'x/y', 'z') }) },
  { weight: 2, arbitrary: kind('restore', { which: someone }) },
  { weight: 1, arbitrary: kind('revert', { who: someone, version: someone }) },
)

eachDatabase('notes under any sequence of changes', ({ engine, open }) => {
  test('are what a simple model says: graph, relations, names, folders, counts and the feed', {
    timeout: LIMIT_MS,
  }, async () => {
    const db = await open()
    const { operator } = await installed(db)
    const index = openSearchIndex({ db, clock: new SystemClock(), log: silentLogger() })
    const end = new AbortController()
    const indexing = index.run(end.signal)
    let runs = 0
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14, size: 'max' }), async (steps) => {
          const world = await openWorld(db, operator, `h${runs++}`)
          const model = await playAll(located(steps, world.project.name), world)
          await index.caughtUp()
          await assertFoundByWords(model, world)
          await assertSearchRows(db, world.project.id)
        }),
        { numRuns: RUNS[engine] },
      )
    } finally {
      end.abort()
      await indexing
    }
  })
})

async function playAll(steps: readonly (Step | BatchStep)[], world: NotesWorld): Promise<NotesModel> {
  const model = new NotesModel(world.project.name)
  const asked = LINKS.map((each) => readTarget(located(each, world.project.name)) as NamedText)
  for (const each of steps) {
    const play = each.kind === 'batch' ? playBatch(each, model, world) : playOf(each, model, world)
    if (play === null) continue
    await playOne(play, world)
    assert.deepEqual(await seen(world, asked, SOURCES), foreseen(model, asked, SOURCES), each.kind)
    for (const { externalId } of model.notes) await assertAnswersAreFresh(world, externalId)
  }
  return model
}

async function playOne(play: Play, world: NotesWorld): Promise<void> {
  const outcome = await play.real().catch((error: unknown) => {
    if (error instanceof AppError) return error
    throw error
  })
  const id = 'document' in outcome ? (outcome.document as EntityDocument).external_id : ''
  let foreseenResult: unknown
  try {
    foreseenResult = play.model(id)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    assert.ok(outcome instanceof AppError, `done, though it had to be refused: ${error.code}`)
    assert.equal(outcome.code, error.code, outcome.message)
    return
  }
  if (outcome instanceof AppError) throw outcome
  assert.deepEqual(outcome.result, foreseenResult)
  if (outcome.document !== undefined) assert.deepEqual(outcome.document, await readAgain(world, id))
}

/** The answer to a write must be what a reader is told afterwards. */
async function readAgain({ deps: { db }, project }: NotesWorld, id: string): Promise<EntityDocument> {
  const note = await requireNote(db, project, id)
  return toDocument(note, await noteParts(db, note))
}

/** Whatever is kept ready to be sent. */
async function assertAnswersAreFresh(world: NotesWorld, id: string): Promise<void> {
  const { body } = await world.notes.get({ projectId: world.projectId, noteId: id })
  assert.deepEqual(JSON.parse(String(body)), await readAgain(world, id))
}

/** All words must be in the name of a note; where none has them, words that begin so. */
async function assertFoundByWords(model: NotesModel, { deps: { db }, project }: NotesWorld): Promise<void> {
  const named = model.notes.map(({ title, permalink, path }) => ({
    path,
    words: indexWords(nameText({ title, permalink, file_path: path })),
  }))
  const withAll = (texts: readonly string[], isWord: (own: string, text: string) => boolean) =>
    named.filter(({ words }) => texts.every((each) => words.some((own) => isWord(own, each)))).map(({ path }) => path)
  for (const asked of WORDS) {
    const texts = queryWords(asked)
    const exact = withAll(texts, (own, each) => own === each)
    const expected = exact.length > 0 ? exact : withAll(texts, (own, each) => own.startsWith(each))
    const found = (await findByNameWords(db, project, asked)).map(({ file_path: path }) => path)
    assert.deepEqual(found.sort(), expected.sort(), asked)
  }
}

/** The alphabets name the project that every run has for itself. */
function located<T>(value: T, project: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll(HERE, project))
}
