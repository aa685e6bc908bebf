import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildContext, type ContextQuery } from '../../src/knowledge/context/build-context.ts'
import type { ContextItem } from '../../src/knowledge/context/context-item.ts'
import { findRelated } from '../../src/knowledge/context/find-related.ts'
import { Neighbourhood } from '../../src/knowledge/context/neighbourhood.ts'
import { pageOfItems, recentlyChanged, withCounts } from '../../src/knowledge/context/primary-items.ts'
import { relationsAround } from '../../src/knowledge/context/store-neighbours.ts'
import { addNames } from '../../src/knowledge/link/names.ts'
import type { Project } from '../../src/knowledge/note/note.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { runningIndex } from '../support/running-index.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { type NoteRow, type WrittenNotes, writeNoteRows } from './note-rows.ts'
import { planOf, refuseShortCuts, SCAN, watchedReader } from './watched-reader.ts'

const DEFAULTS: ContextQuery = {
  name: null,
  types: new Set(['entity']),
  depth: 1,
  maxRelated: 10,
  since: 0,
  page: 1,
  pageSize: 10,
}

interface Written extends WrittenNotes {
  project: Project
}

async function write(db: Database, rows: readonly NoteRow[]): Promise<Written> {
  await runningIndex(db)
  const written = await writeNoteRows(db, rows)
  const project = { id: written.projectId, externalId: '', name: 'main', permalink: 'main', formerPermalinks: '' }
  const notes = await db.query.selectFrom('notes').selectAll().where('project_id', '=', project.id).execute()
  await db.write(async (tx) => {
    for (const note of notes) await addNames(tx, project, { note, aliases: [] })
  })
  return { ...written, project }
}

function shown(item: ContextItem): string {
  if (item.type === 'entity') return item.file_path
  if (item.type === 'observation') return `[${item.category}] ${item.content}`
  return `${item.from_entity} ${item.relation_type} ${item.to_entity ?? `(${item.to_name})`}`
}

eachDatabase('context', ({ open }) => {
  test('of names that are looked for by words keeps nobody from reading while the index is behind', async () => {
    const db = await open()
    const { project } = await write(db, [{ path: 'a.md' }])
    const { promise, resolve } = Promise.withResolvers<void>()
    const behind = { caughtUp: () => promise }
    const asked = Array.from({ length: 20 }, () => buildContext(db, behind, project, { ...DEFAULTS, name: 'nowhere' }))
    const { results } = await buildContext(db, behind, project, { ...DEFAULTS, name: 'a' })
    assert.deepEqual(
      results.map(({ primary_result }) => shown(primary_result)),
      ['a.md'],
    )
    resolve()
    for (const { results } of await Promise.all(asked)) assert.deepEqual(results, [])
  })

  test('of recent changes has the newest first, with types, pages and a beginning', async () => {
    const db = await open()
    const observations = [
      { category: 'fact', content: 'one' },
      { category: 'fact', content: 'two' },
    ]
    const { project } = await write(db, [
      { path: 'old.md', updatedAt: 1_000 },
      { path: 'b.md', updatedAt: 3_000, observations, links: ['nowhere', { to: 'a.md', isRepeat: true }, 'a.md'] },
      { path: 'a.md', updatedAt: 2_000, content: 'text of a' },
      { path: 'c.md', updatedAt: 3_000 },
    ])
    const ask = async (query: Partial<ContextQuery>) => {
      const { results, hasMore } = await buildContext(db, await runningIndex(db), project, {
        ...DEFAULTS,
        since: 2_000,
        ...query,
      })
      return [...results.map(({ primary_result }) => shown(primary_result)), hasMore]
    }
    assert.deepEqual(await ask({}), ['c.md', 'b.md', 'a.md', false])
    assert.deepEqual(await ask({ since: 0 }), ['c.md', 'b.md', 'a.md', 'old.md', false])
    assert.deepEqual(await ask({ since: 4_000 }), [false])
    const parts = ['[fact] one', '[fact] two', 'b links_to (nowhere)', 'b links_to a']
    assert.deepEqual(await ask({ types: new Set(['observation', 'relation']) }), [...parts, false])
    const all = ['c.md', 'b.md', ...parts, 'a.md']
    for (const pageSize of [1, 2, 3, 7]) {
      const found: unknown[] = []
      for (let page = 1; ; page++) {
        const answer = await ask({ types: new Set(['entity', 'relation', 'observation']), page, pageSize })
        const hasMore = answer.pop()
        found.push(...answer)
        if (hasMore === false) break
      }
      assert.deepEqual(found, all)
    }
    assert.deepEqual(await ask({ page: 100 }), [false])
  })

  test('counts the parts of long notes no further than the page needs', async () => {
    const db = await open()
    const observations = [1, 2].map((n) => ({ category: 'fact', content: `${n}` }))
    const rows = Array.from({ length: 5 }, (_, n) => ({
      path: `${n}.md`,
      size: 400_000,
      observations,
      updatedAt: 9 - n,
    }))
    const { projectId, ids } = await write(db, rows)
    const { reader, statements } = watchedReader(db)
    const types = new Set(['observation'] as const)
    const notes = withCounts(reader, recentlyChanged(reader, projectId, 0), types)
    const { places, hasMore } = await pageOfItems(notes, types, { offset: 2, limit: 1 })
    assert.deepEqual([places, hasMore], [[{ noteId: ids.get('1.md'), type: 'observation', index: 0 }], true])
    const counted = statements.filter(({ sql }) => sql.includes('count(*)')).map(({ parameters }) => parameters.at(-1))
    assert.deepEqual(counted, [`[${ids.get('0.md')}]`, `[${ids.get('1.md')}]`])
  })

  test('has long observations in part, under the permalinks of the whole', async () => {
    const db = await open()
    const long = '😀'.repeat(12_000)
    const tags = Array.from({ length: 12_000 }, () => 'a')
    const { project } = await write(db, [
      {
        path: 'a.md',
        observations: ['1', '2'].map((end) => ({ category: long, content: long + end, context: long, tags })),
      },
    ])
    for (const type of ['entity', 'observation'] as const) {
      const { results } = await buildContext(db, await runningIndex(db), project, {
        ...DEFAULTS,
        types: new Set([type]),
      })
      const items = results.flatMap(({ primary_result: item, observations }) =>
        item.type === 'observation' ? [item] : observations,
      )
      assert.equal(new Set(items.map(({ permalink }) => permalink)).size, 2)
      for (const item of items) {
        const [name, content] = [long.slice(0, 4_000), long.slice(0, 20_000)]
        assert.deepEqual([item.category, item.content, item.context], [name, content, name])
        assert.equal(item.tags.length, 10_000)
      }
    }
  })

  test('has the first of very many long observations with a note, and every one where observations are asked for', async () => {
    const db = await open()
    const observations = Array.from({ length: 100 }, () => ({ category: 'fact', content: 'x'.repeat(1_996) }))
    const { project } = await write(db, [{ path: 'a.md', observations }])
    const ask = async (type: 'entity' | 'observation') => {
      const query = { ...DEFAULTS, types: new Set([type]), pageSize: 100 }
      return (await buildContext(db, await runningIndex(db), project, query)).results
    }
    assert.equal((await ask('entity'))[0]?.observations.length, 50)
    assert.equal((await ask('observation')).length, 100)
  })

  test('has the first of very many long relations beside a note, and all notes that they lead to', async () => {
    const db = await open()
    const [type, paths] = ['x'.repeat(1_996), Array.from({ length: 70 }, (_, n) => `${10 + n}.md`)]
    const { project } = await write(db, [
      { path: 'a.md', permalink: 'a', links: paths.slice(1).map((to) => ({ to, type })) },
      ...paths.map((path, n) => ({ path, links: n === 1 ? ['10.md'] : [] })),
    ])
    const query = { ...DEFAULTS, name: 'a', depth: 2, maxRelated: 1_000 }
    const { results } = await buildContext(db, await runningIndex(db), project, query)
    const related = results[0]?.related_results ?? []
    assert.equal(related.filter((item) => item.type === 'entity').length, 70)
    assert.equal(related.filter((item) => item.type === 'relation').length, 49)
  })

  test('a note that is named is there however old it is: a timeframe is about what is related to it', async () => {
    const db = await open()
    const { project } = await write(db, [
      { path: 'docs/old.md', permalink: 'docs/old', updatedAt: 1 },
      { path: 'docs/older.md', permalink: 'docs/older', updatedAt: 0 },
    ])
    for (const [name, paths] of [
      ['docs/old', ['docs/old.md']],
      ['docs/old*', ['docs/old.md', 'docs/older.md']],
      ['docs/*', ['docs/old.md', 'docs/older.md']],
    ] as const) {
      const query = { ...DEFAULTS, name, since: 2_000_000 }
      const { results } = await buildContext(db, await runningIndex(db), project, query)
      assert.deepEqual(
        results.map(({ primary_result }) => shown(primary_result)),
        paths,
        name,
      )
    }
  })

  test('finds observations and relations by the permalinks that answers show', async () => {
    const db = await open()
    const observations = ['One', 'two', 'one!', 'three'].map((content) => ({ category: 'fact', content }))
    const links = ['nowhere', { to: 'b.md', isRepeat: true }, 'b.md', 'far away']
    const { project } = await write(db, [
      { path: 'docs/a.md', permalink: 'main/docs/a', observations, links, updatedAt: 1 },
      { path: 'b.md', permalink: 'main/b' },
    ])
    const ask = async (name: string, more: Partial<ContextQuery> = {}) => {
      const query = { ...DEFAULTS, since: 2_000_000, ...more, name }
      const { results, hasMore } = await buildContext(db, await runningIndex(db), project, query)
      return [...results.map(({ primary_result }) => shown(primary_result)), hasMore]
    }
    for (const begin of ['main/docs/a', 'docs/a']) {
      assert.deepEqual(await ask(`${begin}/observations/fact/two`), ['[fact] two', false])
      // Two that differ only in signs, with another one between them.
      assert.deepEqual(await ask(`${begin}/observations/fact/one`), ['[fact] One', '[fact] one!', false])
      assert.deepEqual(await ask(`${begin}/observations/fact/one`, { pageSize: 1 }), ['[fact] One', true])
      assert.deepEqual(await ask(`${begin}/observations/fact/one`, { pageSize: 1, page: 2 }), ['[fact] one!', false])
      assert.deepEqual(await ask(`${begin}/links-to/main/b`), ['main/docs/a links_to main/b', false])
      assert.deepEqual(await ask(`${begin}/links-to/far-away`), ['main/docs/a links_to (far away)', false])
      assert.deepEqual(await ask(`${begin}/observations/fact/four`), [false])
    }
  })

  test('finds by permalink, id, path, title and pattern', async () => {
    const db = await open()
    const { project, externalIds } = await write(db, [
      { path: 'Docs/Plan One.md', permalink: 'main/docs/plan-one', title: 'Plan One', content: 'the text' },
      { path: 'docs/two.md', permalink: 'docs/two' },
      { path: 'docs/twofold.md', permalink: 'docs/twofold', updatedAt: 5 },
      { path: 'other.md', permalink: 'main/other' },
      { path: 'none.md', permalink: null },
    ])
    const ask = async (name: string) => {
      const { results } = await buildContext(db, await runningIndex(db), project, { ...DEFAULTS, name, since: null })
      return results.map(({ primary_result }) => shown(primary_result))
    }
    const one = ['Docs/Plan One.md']
    assert.deepEqual(await ask('main/docs/plan-one'), one)
    assert.deepEqual(await ask('docs/plan-one'), one)
    assert.deepEqual(await ask('Plan One'), one)
    assert.deepEqual(await ask('Docs/Plan One.md'), one)
    assert.deepEqual(await ask(externalIds.get('Docs/Plan One.md') as string), one)
    assert.deepEqual(await ask('none.md'), ['none.md'])
    assert.deepEqual(await ask('nothing of the kind'), [])
    assert.deepEqual(await ask('docs/two*'), ['docs/two.md', 'docs/twofold.md'])
    assert.deepEqual(await ask('docs/*'), ['docs/two.md', 'docs/twofold.md', 'Docs/Plan One.md'])
    assert.deepEqual(await ask('*o*e*'), ['Docs/Plan One.md', 'other.md'])
    assert.deepEqual(await ask('*two*d'), ['docs/twofold.md'])
    assert.deepEqual(await ask('main/*'), ['Docs/Plan One.md', 'other.md'])
    assert.deepEqual(await ask('x*'), [])
    const { results } = await buildContext(db, await runningIndex(db), project, {
      ...DEFAULTS,
      name: 'Plan One',
      since: null,
    })
    assert.equal(results[0]?.primary_result.type === 'entity' && results[0].primary_result.content, 'the text')
  })

  test('goes both ways along relations, nearest first, each note once, and ends in circles', async () => {
    const db = await open()
    const { project } = await write(db, [
      { path: 'a.md', links: ['b.md', 'a.md', 'nowhere'] },
      { path: 'b.md', links: ['c.md', 'a.md'] },
      { path: 'c.md', links: ['a.md', 'd.md'] },
      { path: 'd.md', links: ['e.md'] },
      { path: 'e.md' },
      { path: 'old.md', updatedAt: 1, links: ['e.md'] },
      { path: 'behind old.md', links: ['old.md'] },
    ])
    const ask = async (query: Partial<ContextQuery>) => {
      const { results } = await buildContext(db, await runningIndex(db), project, {
        ...DEFAULTS,
        since: null,
        maxRelated: 100,
        ...query,
      })
      return results.map(({ related_results }) => related_results.map(shown))
    }
    const near = [
      'b.md',
      'c.md',
      'a links_to b',
      'a links_to a',
      'a links_to (nowhere)',
      'b links_to a',
      'c links_to a',
    ]
    const second = ['d.md', 'b links_to c', 'c links_to d']
    assert.deepEqual(await ask({ name: 'a', depth: 0 }), [[]])
    assert.deepEqual(await ask({ name: 'a', depth: 1 }), [near])
    assert.deepEqual(await ask({ name: 'a', depth: 2 }), [[...near, ...second]])
    assert.deepEqual(await ask({ name: 'a', depth: 3 }), [[...near, ...second, 'e.md', 'd links_to e']])
    const far = ['old.md', 'old links_to e', 'behind old.md', 'behind old links_to old']
    assert.deepEqual(await ask({ name: 'a', depth: 5 }), [[...near, ...second, 'e.md', 'd links_to e', ...far]])
    assert.deepEqual(await ask({ name: 'a', depth: 5, since: 2 }), [[...near, ...second, 'e.md', 'd links_to e']])
    // What a new note says of an old one is new.
    assert.deepEqual(await ask({ name: 'behind old', depth: 5, since: 2 }), [['behind old links_to old']])
    assert.deepEqual(await ask({ name: 'e', depth: 1, since: 2 }), [['d.md', 'd links_to e']])
    assert.deepEqual(await ask({ name: 'a', depth: 5, maxRelated: 3 }), [near.slice(0, 3)])
    assert.deepEqual(await ask({ name: 'a', maxRelated: 0 }), [[]])
    // Each result has its own related ones and its own maximum.
    assert.deepEqual(await ask({ name: '*', depth: 1, maxRelated: 1, pageSize: 3 }), [['b.md'], ['a.md'], ['old.md']])
  })

  test('has what changed lately also where very many older notes are related, in either direction', async () => {
    const db = await open()
    const old = Array.from({ length: 300 }, (_, n) => `old ${n}.md`)
    const recent = ['new a.md', 'new b.md']
    const { project } = await write(db, [
      { path: 'hub.md', updatedAt: 1 },
      { path: 'list.md', updatedAt: 1, links: [...old, ...recent] },
      ...old.map((path) => ({ path, updatedAt: 1, links: ['hub.md'] })),
      ...recent.map((path) => ({ path, links: ['hub.md'] })),
    ])
    const ask = async (name: string) => {
      const query = { ...DEFAULTS, name, since: 2, maxRelated: 3 }
      const { results } = await buildContext(db, await runningIndex(db), project, query)
      return results[0]?.related_results.map(shown)
    }
    assert.deepEqual(await ask('hub'), [...recent, 'new a links_to hub'])
    assert.deepEqual(await ask('list'), [...recent, 'list links_to old 0'])
  })

  test('is not filled by one note that links to another again and again', async () => {
    const db = await open()
    const again = (to: string, isRepeat: boolean) =>
      Array.from({ length: 3_000 }, (_, n) => (isRepeat && n > 0 ? { to, isRepeat } : { to, type: `t${n}` }))
    const { project, projectId, ids } = await write(db, [
      { path: 'repeating.md', links: [...again('a.md', true), 'b.md'] },
      { path: 'many ways.md', links: again('b.md', false) },
      { path: 'a.md' },
      { path: 'b.md' },
      { path: 'c.md', links: ['a.md', 'b.md', { to: 'b.md', type: 'cites' }] },
    ])
    const ask = async (name: string, maxRelated = 10) => {
      const query = { ...DEFAULTS, name, maxRelated }
      const { results } = await buildContext(db, await runningIndex(db), project, query)
      return results[0]?.related_results.map(shown)
    }
    const relations = ['repeating t0 a', 'repeating links_to b']
    assert.deepEqual(await ask('repeating'), ['a.md', 'b.md', ...relations])
    assert.deepEqual(await ask('a'), ['repeating.md', 'c.md', 'repeating t0 a', 'c links_to a'])
    assert.deepEqual(await ask('b', 4), ['repeating.md', 'many ways.md', 'c.md', 'repeating links_to b'])
    const around = new Neighbourhood(db, projectId)
    const notes = ['b.md', 'many ways.md'].map((path) => ids.get(path) as number)
    await around.expand(notes, 1)
    for (const note of notes) assert.ok(around.edgesOf(note).length < 520)
  })

  test('of many notes lets others have their turn while it is read', async () => {
    const db = await open()
    const rows = Array.from({ length: 100 }, (_, at) => ({
      path: `n${at}.md`,
      updatedAt: 1_000,
      links: [`n${(at * 7 + 1) % 100}.md`],
    }))
    const { project } = await write(db, rows)
    const index = await runningIndex(db)
    const building = buildContext(db, index, project, { ...DEFAULTS, depth: 3, pageSize: 100 })
    const turns = await turnsDuring(building)
    assert.equal((await building).results.length, 100)
    assert.ok(turns >= 30, String(turns))
  })

  test('takes turns by how long notes are: short ones are read in a few, long ones in one each', async () => {
    const db = await open()
    for (const [size, isRight] of [
      [100, (turns: number) => turns < 20],
      [200_000, (turns: number) => turns >= 40],
    ] as const) {
      const rows = Array.from({ length: 40 }, (_, n) => ({ path: `${n}.md`, size, links: ['0.md'] }))
      const { ids } = await writeNoteRows(db, rows)
      const turns = await turnsDuring(db.read((snapshot) => relationsAround(snapshot, [...ids.values()], null)))
      if (db.engine === 'sqlite') assert.ok(isRight(turns), `${turns} turns for notes of ${size}`)
    }
  })

  test('of a crowded neighbourhood reads no more than its limits, without reading tables from end to end', async () => {
    const db = await open()
    const leaves = Array.from({ length: 700 }, (_, n) => `leaf ${n}.md`)
    const { projectId, ids } = await writeNoteRows(db, [
      { path: 'hub.md', links: leaves },
      ...leaves.map((path) => ({ path, links: ['hub.md'] })),
    ])
    await db.write(async (tx) => {
      await refuseShortCuts(tx)
      const { reader, statements } = watchedReader(tx)
      const around = new Neighbourhood(reader, projectId, { notes: 10, relations: 1_000 })
      const hub = ids.get('hub.md') as number
      await around.know([hub])
      const [related = []] = await findRelated(around, [hub], { depth: 5, maxRelated: 1_000, since: null })
      assert.ok(around.edgesOf(hub).length <= 520, `${around.edgesOf(hub).length} relations`)
      assert.ok(related.length <= 1_000)
      await new Neighbourhood(reader, projectId).expand([hub], 1)
      for (const seen of new Map(statements.map((one) => [one.sql, one])).values()) {
        const plan = await planOf(tx, seen)
        assert.doesNotMatch(plan, SCAN, `${seen.sql}\n${plan}`)
      }
    })
  })
})
