import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteNote } from '../../src/knowledge/note/store-notes.ts'
import {
  insertObservations,
  type Observation,
  readObservations,
  replaceObservations,
} from '../../src/knowledge/note/store-observations.ts'
import { watchedWriter } from '../knowledge/watched-reader.ts'
import { eachDatabase } from '../support/each-database.ts'
import { addProject, insertPlainNote, plainNote } from '../support/plain-notes.ts'

const some = (length: number): Observation[] =>
  Array.from({ length }, (_, at) => ({ category: 'fact', content: `number ${at}`, context: null, tags: [`t${at}`] }))

eachDatabase('observations of a note', ({ open }) => {
  test('are what they were replaced by, however many there are and wherever the first difference is', async () => {
    const db = await open()
    const note = plainNote(await addProject(db, 'many'), 1)
    const other: Observation = { category: 'other', content: 'different', context: 'here', tags: [] }
    await db.write(async (tx) => {
      await insertPlainNote(tx, note)
      await insertObservations(tx, note.id, some(10_000))
    })
    assert.deepEqual(await readObservations(db, note.id), some(10_000))
    for (const list of [
      [...some(10_000), other],
      [...some(4_999), other, ...some(5_500)],
      [...some(4_999), other],
      [...some(4_999), other, other],
      [other, ...some(5_000)],
      some(5_000),
      [],
    ]) {
      await db.write((tx) => replaceObservations(tx, note.id, list))
      assert.deepEqual(await readObservations(db, note.id), list)
    }
  })

  test('go with their note, of very many no more by one statement than others can wait for', async () => {
    const db = await open()
    const note = plainNote(await addProject(db, 'gone'), 1)
    await db.write(async (tx) => {
      await insertPlainNote(tx, note)
      await insertObservations(tx, note.id, some(12_000))
      const { writer, statements } = watchedWriter(tx)
      await deleteNote(writer, note.id)
      const takenAway = statements.filter(({ sql }) => sql.includes('"observations"'))
      if (tx.engine === 'sqlite')
        assert.deepEqual(
          takenAway.map(({ parameters }) => parameters[1]),
          [6_999, 1_999, 0],
        )
    })
    assert.deepEqual(await readObservations(db, note.id), [])
  })
})
