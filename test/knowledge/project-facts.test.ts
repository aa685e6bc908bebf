import assert from 'node:assert/strict'
import { test } from 'node:test'
import { projectFacts } from '../../src/knowledge/project/project-facts.ts'
import { ProjectInside } from '../../src/knowledge/project/project-inside.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { writeNoteRows } from './note-rows.ts'

eachDatabase('the facts of projects', ({ open }) => {
  test('have the most frequent categories right, however many others there are', async () => {
    const db = await open()
    const categories = Array.from({ length: 10_500 }, (_, n) => (n % 5_000 === 0 ? 'fact' : `c${n}`))
    const observations = categories.map((category) => ({ category, content: 'x' }))
    const { projectId } = await writeNoteRows(db, [{ path: 'a.md', observations }])
    const facts = await db.read((snapshot) => projectFacts(snapshot, projectId, 0))
    assert.deepEqual(Object.entries(facts.categories)[0], ['fact', 3])
    assert.equal(Object.keys(facts.categories).length, 200)
    assert.equal(facts.observations, 10_500)
  })

  test('count a type once that earlier versions kept in two Unicode forms', async () => {
    const db = await open()
    const types = ['café', 'café'.normalize('NFD')]
    const { projectId } = await writeNoteRows(
      db,
      types.map((type) => ({ path: `${type.length}.md`, type })),
    )
    const facts = await db.read((snapshot) => projectFacts(snapshot, projectId, 0))
    assert.deepEqual(facts.noteTypes, { café: 2 })
  })

  test('are counted two at a time, and not for who has gone, or may not see them when it is their turn', async () => {
    const db = await open({ poolSize: 7 })
    const { projectId } = await writeNoteRows(db, [{ path: 'a.md' }])
    const { external_id: pathId } = await db.query
      .selectFrom('projects')
      .select('external_id')
      .where('id', '=', projectId)
      .executeTakeFirstOrThrow()
    const read = db.read.bind(db)
    let reading = 0
    let most = 0
    db.read = (work) => {
      most = Math.max(most, ++reading)
      return read(work).finally(() => reading--)
    }
    const inside = new ProjectInside({ db, clock: new FakeClock() })
    const gone = new AbortController()
    const ask = (signal = new AbortController().signal, judgeAgain = async () => {}) =>
      inside.facts(pathId, { gone: signal, judgeAgain })
    const leaving = [ask(gone.signal), ask(), ask(gone.signal), ask()].map((facts) =>
      facts.catch(({ message }) => message),
    )
    gone.abort(new Error('The caller went away'))
    const [first, second, third, fourth] = await Promise.all(leaving)
    assert.deepEqual([first, third], ['The caller went away', 'The caller went away'])
    assert.deepEqual([second.facts.notes, fourth.facts.notes], [1, 1])
    assert.equal(most, 2)
    most = 0
    const refused = async () => assert.fail('Missing permission')
    await assert.rejects(ask(undefined, refused), /Missing permission/)
    assert.equal(most, 0)
    assert.equal((await ask()).facts.notes, 1)
  })
})
