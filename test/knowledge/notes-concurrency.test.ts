import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrashService } from '../../src/knowledge/history/trash-service.ts'
import { MoveService } from '../../src/knowledge/move/move-service.ts'
import type { NoteInput } from '../../src/knowledge/note/note-input.ts'
import { NoteService } from '../../src/knowledge/note/note-service.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'
import { eachServer } from './each-server.ts'
import { assertConsistent } from './notes-consistency.ts'
import { type NotesWorld, openWorld } from './notes-world.ts'

function input(title: string, directory = '', content = ''): NoteInput {
  return { title, directory, content, noteType: null, metadata: null }
}

/** What came out: a value, or the code of the error that the caller is told. */
async function outcomes(work: readonly Promise<unknown>[]): Promise<unknown[]> {
  return Promise.all(
    work.map((one) =>
      one.catch((error: unknown) => {
        if (error instanceof AppError) return error.code
        throw error
      }),
    ),
  )
}

eachDatabase('notes that are changed at the same time', ({ engine, open, openAgain }) => {
  /** A project, and on PostgreSQL a second process that writes to it. */
  async function worlds(): Promise<[NotesWorld, NotesWorld]> {
    const db = await open()
    const { operator } = await installed(db)
    const one = await openWorld(db, operator, 'storm')
    if (engine === 'sqlite') return [one, one]
    const deps = { ...one.deps, db: await openAgain(db) }
    return [one, { ...one, deps, notes: new NoteService(deps) }]
  }

  test('of twenty that make the same note exactly one does', async () => {
    const both = await worlds()
    const [{ writer, projectId }] = both
    const work = Array.from({ length: 20 }, (_, n) =>
      (both[n % 2] as NotesWorld).notes.create(writer, projectId, input(n % 3 === 0 ? 'The One' : 'the-one', 'd')),
    )
    const done = await outcomes(work)
    assert.equal(done.filter((one) => typeof one === 'object').length, 1)
    assert.equal(done.filter((one) => one === 'conflict').length, 19)
    await assertConsistent(both[0])
  })

  test('of twenty that put the same new id one makes it and the last one stays', async () => {
    const both = await worlds()
    const [{ writer, projectId }] = both
    const place = { projectId, noteId: newId() }
    const done = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (both[n % 2] as NotesWorld).notes.replace(writer, place, input('Same', '', `text ${n}`), {}),
      ),
    )
    assert.equal(done.filter(({ isNew }) => isNew).length, 1)
    const versions = done.map(({ document }) => document.version).sort((a, b) => a - b)
    assert.deepEqual(
      versions,
      Array.from({ length: 20 }, (_, n) => n + 1),
    )
    await assertConsistent(both[0])
  })

  test('of twenty that want one permalink each gets one of its own', async () => {
    const both = await worlds()
    const [{ writer, projectId }] = both
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (both[n % 2] as NotesWorld).notes.create(
          writer,
          projectId,
          input(`N${n}`, '', '---\npermalink: shared\n---\n'),
        ),
      ),
    )
    assert.equal(new Set(made.map(({ permalink }) => permalink)).size, 20)
    await assertConsistent(both[0])
  })

  test('a note that several delete, and bring back, at once is gone once and comes back once', async () => {
    const both = await worlds()
    const [{ notes, writer, projectId }] = both
    const { external_id: noteId } = await notes.create(writer, projectId, input('Wanted'))
    const place = { projectId, noteId }
    const deleted = await Promise.all(
      Array.from({ length: 8 }, (_, n) => (both[n % 2] as NotesWorld).notes.delete(writer, place, {})),
    )
    assert.equal(deleted.filter((one) => one).length, 1)
    const restored = await outcomes(
      Array.from({ length: 8 }, (_, n) => new TrashService((both[n % 2] as NotesWorld).deps).restore(writer, place)),
    )
    assert.equal(restored.filter((one) => typeof one === 'object').length, 1)
    assert.ok(restored.every((one) => typeof one === 'object' || one === 'not_found' || one === 'conflict'))
    await assertConsistent(both[0])
  })

  test('no edit is lost', async () => {
    const both = await worlds()
    const [{ notes, writer, projectId }] = both
    const { external_id: noteId } = await notes.create(writer, projectId, input('Edited'))
    const place = { projectId, noteId }
    const lines = Array.from({ length: 20 }, (_, n) => `- [line] number ${n} [[Edited]] [[n${n}]]`)
    await Promise.all(
      lines.map((content, n) =>
        (both[n % 2] as NotesWorld).notes.edit(writer, place, { operation: 'append', content }, {}),
      ),
    )
    const { body } = await notes.get(place)
    const note = JSON.parse(String(body))
    for (const line of lines) assert.ok(note.content.includes(line), line)
    assert.equal(note.version, 21)
    await assertConsistent(both[0])
  })

  test('of writers who know the same version one wins', async () => {
    const both = await worlds()
    const [{ notes, writer, projectId }] = both
    const { external_id: noteId, checksum } = await notes.create(writer, projectId, input('Guarded'))
    const work = Array.from({ length: 10 }, (_, n) =>
      (both[n % 2] as NotesWorld).notes.edit(
        writer,
        { projectId, noteId },
        { operation: 'append', content: `${n}` },
        { ifMatch: `"${checksum}"` },
      ),
    )
    const done = await outcomes(work)
    assert.equal(done.filter((one) => one === 'precondition_failed').length, 9)
    await assertConsistent(both[0])
  })

  test('a folder that several delete and move at once is gone once, and nobody fails', async () => {
    const both = await worlds()
    const [{ notes, writer, projectId }] = both
    for (let n = 0; n < 20; n++)
      await notes.create(writer, projectId, input(`n${n}`, `d/${n % 3}`, `[[n${(n + 1) % 20}]]`))
    const deletes = Array.from({ length: 6 }, (_, n) =>
      new MoveService((both[n % 2] as NotesWorld).deps).deleteDirectory(writer, projectId, n % 2 === 0 ? 'd' : 'd/1'),
    )
    const moves = Array.from({ length: 3 }, (_, n) =>
      new MoveService((both[n % 2] as NotesWorld).deps).moveDirectory(writer, projectId, {
        source: 'd',
        destination: `e${n}`,
        isAtomic: false,
      }),
    )
    const [deleted, moved] = [await Promise.all(deletes), await Promise.all(moves)]
    const gone = deleted.flatMap(({ done }) => done).length
    const left = await both[0].deps.db.query
      .selectFrom('notes')
      .select('file_path')
      .where('project_id', '=', both[0].project.id)
      .execute()
    assert.equal(gone + left.length, 20)
    assert.equal(new Set(moved.flatMap(({ done }) => done)).size, moved.flatMap(({ done }) => done).length)
    await assertConsistent(both[0])
  })

  test('a hundred writers at once are all served', async () => {
    const both = await worlds()
    const [{ writer, projectId }] = both
    const work = Array.from({ length: 100 }, (_, n) => {
      const content = `- [f] ${n}\n- uses [[W${(n * 3) % 100}]]\n[[Common]]`
      return (both[n % 2] as NotesWorld).notes.create(writer, projectId, input(`W${n}`, `d${n % 5}`, content))
    })
    await Promise.all(work)
    const { notes, deps, project } = both[0]
    await notes.create(writer, projectId, input('Common'))
    const waiting = await deps.db.query
      .selectFrom('relations')
      .select('to_name')
      .where('project_id', '=', project.id)
      .where('to_id', 'is', null)
      .execute()
    assert.deepEqual(waiting, [], 'every link has found its note')
    await assertConsistent(both[0])
  })

  test('a storm of everything ends in order', async () => {
    const both = await worlds()
    const [{ notes, writer, projectId }] = both
    const ids: string[] = []
    for (let n = 0; n < 6; n++) {
      const content = `- [f] ${n}\n- uses [[T${(n + 1) % 6}]]\n[[T${(n + 2) % 6}]]`
      ids.push((await notes.create(writer, projectId, input(`T${n}`, 's', content))).external_id)
    }
    const storm = Array.from({ length: 120 }, (_, n) => {
      const { notes, deps } = both[n % 2] as NotesWorld
      const place = { projectId, noteId: ids[(n * 7) % ids.length] as string }
      const title = `T${(n * 5) % 8}`
      switch (n % 6) {
        case 0:
          return notes.replace(writer, place, input(title, n % 4 === 0 ? 's' : 'r', `[[T${n % 8}]] put ${n}`), {})
        case 1:
          return notes.edit(writer, place, { operation: 'append', content: `- [f] ${n}\n- uses [[T${n % 8}]]` }, {})
        case 2:
          return new MoveService(deps).move(
            writer,
            place,
            { destinationPath: `${n % 4 === 0 ? 's' : 'q'}/${title}.md`, updateLinks: n % 5 === 0 },
            {},
          )
        case 3:
          return n % 4 === 3 ? notes.delete(writer, place, {}) : notes.get(place)
        case 4:
          return notes.create(writer, projectId, input(title, 'p', `[[T${n % 8}]]`))
        default:
          return new MoveService(deps).moveDirectory(writer, projectId, {
            source: n % 4 === 1 ? 'p' : 'q',
            destination: 's',
            isAtomic: false,
          })
      }
    })
    const allowed = new Set(['conflict', 'invalid_argument', 'not_found'])
    for (const one of await outcomes(storm)) {
      if (typeof one === 'string') assert.ok(allowed.has(one), one)
    }
    await assertConsistent(both[0])
  })
})

eachServer('a reader beside writers', (api) => {
  test('sees a note of one time, never parts of two', async () => {
    const text = (n: number) =>
      Array.from({ length: 1 + (n % 5) }, (_, m) => `- [n] fact ${n} ${m}\n- to [[L${n} ${m}]]`)
    const { external_id: id } = await api().create({ title: 'Seen', content: text(0).join('\n') })
    let isOver = false
    const writing = (async () => {
      for (let n = 1; n <= 60; n++) await api().put(id, { title: 'Seen', content: text(n).join('\n') }, 200)
      isOver = true
    })()
    const reading = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const note = await api().get(id)
        const expected = text(note.version - 1).length
        assert.equal(note.observations.length, expected)
        assert.equal(note.relations.length, expected)
        assert.ok(note.observations.every(({ content }) => note.content.includes(content)))
      }
    })
    await Promise.all([writing, ...reading])
  })

  describe('and what is kept ready for readers', () => {
    test('is never older than the last answer to a writer', async () => {
      const target = await api().create({ title: 'Watched' })
      for (let n = 0; n < 20; n++) {
        await api().get(target.external_id)
        const linking = await api().create({ title: `Linking ${n}`, content: '[[Watched]]' })
        const links = async () => (await api().get(target.external_id)).relations.map(({ from_id: from }) => from)
        assert.ok((await links()).includes(linking.permalink))
        await api().patch(
          linking.external_id,
          { operation: 'find_replace', find_text: linking.permalink, content: `renamed-${n}` },
          200,
        )
        assert.ok((await links()).includes(`renamed-${n}`))
        await api().delete(linking.external_id)
        assert.deepEqual(await links(), [])
      }
    })
  })
})
