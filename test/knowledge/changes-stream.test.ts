import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MOST_STREAMS, MOST_STREAMS_OF_CALLER } from '../../src/knowledge/history/change-streams.ts'
import { changesRoutes } from '../../src/knowledge/history/routes-changes.ts'
import { recordChange } from '../../src/knowledge/history/store-changes.ts'
import type { Project } from '../../src/knowledge/note/note.ts'
import type { Authenticator } from '../../src/platform/auth/authenticator.ts'
import type { PermissionName } from '../../src/platform/auth/permissions.ts'
import type { OrganizationId, Principal, UserId } from '../../src/platform/auth/principal.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { startPlatform } from '../api/platform/platform-server.ts'
import { eachDatabase } from '../support/each-database.ts'
import { EventReader } from '../support/event-stream.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { addProject, plainNote } from '../support/plain-notes.ts'

/** Everybody has a token of their own name, until it is revoked. */
class Guests implements Authenticator {
  /** Who was let in or refused, each time. */
  readonly judged: string[] = []
  readonly #known = new Map<string, Principal>()

  constructor(...names: string[]) {
    for (const name of names) this.grant(name, ['notes_read'])
  }

  grant(name: string, permissions: PermissionName[]): void {
    this.#known.set(name, {
      kind: 'user',
      userId: newId<'User'>() as UserId,
      organizationId: newId<'Organization'>() as OrganizationId,
      permissions: new Set(permissions),
      method: 'token',
      credentialId: newId(),
      csrfToken: null,
    })
  }

  revoke(name: string): void {
    this.#known.delete(name)
  }

  async authenticate(source: { header(name: string): string | undefined }) {
    const name = (source.header('authorization') ?? '').replace('Bearer ', '')
    this.judged.push(name)
    const principal = this.#known.get(name)
    return principal === undefined ? ({ kind: 'bad' } as const) : ({ kind: 'ok', principal } as const)
  }
}

async function world(db: Database, authenticator: Authenticator) {
  const clock = new FakeClock()
  const opened: { streams?: ReturnType<typeof changesRoutes> } = {}
  const platform = await startPlatform({
    clock,
    authenticator,
    settings: { idle_timeout: 0 },
    routes(server) {
      opened.streams = changesRoutes(server, { db, clock })
    },
  })
  after(() => platform[Symbol.asyncDispose]())
  const project = await addProject(db, 'main')
  const path = `/v2/${project.externalId}/knowledge/changes`
  const streams = opened.streams as ReturnType<typeof changesRoutes>
  return {
    clock,
    streams,
    project,
    port: platform.port,
    path,
    ask: async (name: string, query = '') => {
      const headers = { authorization: `Bearer ${name}` }
      const response = await fetch(`${platform.url}${path}${query}`, { headers })
      return { status: response.status, body: (await response.json()) as { changes?: unknown[] } }
    },
    listen: (name: string) =>
      EventReader.open(`${platform.url}${path}`, { headers: { authorization: `Bearer ${name}` } }),
    /** Time goes on, in steps that a look at the database fits in between, until the promise has settled. */
    async passing<T>(work: Promise<T>): Promise<T> {
      let isDone = false
      const done = work.finally(() => {
        isDone = true
      })
      while (!isDone) {
        await clock.advance(500)
        await db.query.selectFrom('projects').select('id').execute()
      }
      return done
    },
    async closed(): Promise<void> {
      while (streams.open > 0) await nextTurn()
    },
  }
}

async function change(db: Database, project: Project, ...ids: number[]): Promise<void> {
  await db.write(async (tx) => {
    for (const id of ids) {
      await recordChange(tx, project, plainNote(project, id), { change: 'updated', at: id, by: null })
    }
  })
}

eachDatabase('who waits for a change', ({ open }) => {
  test('is told it, but not after the token was revoked or the right was taken away: then what a new request is told', async () => {
    const db = await open()
    const names = ['ada', 'bob', 'eve']
    const guests = new Guests(...names)
    const { project, ask, passing } = await world(db, guests)
    const answers = names.map((name) => ask(name, '?wait=30'))
    while (guests.judged.length < names.length) await nextTurn()
    guests.revoke('ada')
    guests.grant('bob', [])
    await change(db, project, 1)
    const [ada, bob, eve] = await passing(Promise.all(answers))
    assert.deepEqual([ada?.status, bob?.status, eve?.status], [403, 403, 200])
    assert.deepEqual(ada, await ask('ada'))
    assert.deepEqual(bob, await ask('bob'))
    assert.equal(eve?.body.changes?.length, 1)
  })
})

eachDatabase('streams of changes', ({ open }) => {
  test('give a sign of life after fifteen silent seconds, with an id to go on behind', async () => {
    const db = await open()
    const { clock, listen, passing } = await world(db, new Guests('ada'))
    await using reader = await listen('ada')
    assert.deepEqual((await reader.block())?.event, null)
    const first = await reader.block()
    for (let beat = 1, id = first?.id; beat <= 3; beat++) {
      const block = await passing(reader.block())
      assert.equal(block?.event, null)
      assert.equal(block?.comments.length, 1)
      assert.ok(clock.elapsedMs() >= beat * 15_000)
      assert.ok(block?.id)
      assert.notEqual(block?.id, id, 'it is younger than the one before')
      id = block?.id
    }
  })

  test('end when the token is revoked or the right is taken away, before anything more is told', async () => {
    const db = await open()
    const guests = new Guests('ada', 'bob')
    const { project, listen, passing, closed } = await world(db, guests)
    await using ada = await listen('ada')
    await using bob = await listen('bob')
    for (const reader of [ada, bob]) {
      await reader.block()
      await reader.block()
    }
    guests.revoke('ada')
    guests.grant('bob', [])
    await change(db, project, 1)
    const [next, other] = await passing(Promise.all([ada.event(), bob.event()]))
    assert.deepEqual([next, other], [null, null])
    await closed()
  })

  test('of a silent project end as well when the token is revoked', async () => {
    const db = await open()
    const guests = new Guests('ada')
    const { listen, passing, closed } = await world(db, guests)
    await using reader = await listen('ada')
    await reader.block()
    guests.revoke('ada')
    await passing(reader.end())
    await closed()
  })

  test('end when the caller goes away', async () => {
    const db = await open()
    const { listen, streams, closed } = await world(db, new Guests('ada'))
    const reader = await listen('ada')
    await reader.block()
    assert.equal(streams.open, 1)
    await reader.close()
    await closed()
  })

  test('are so many of one caller and so many altogether', async () => {
    const db = await open()
    const names = Array.from({ length: MOST_STREAMS / MOST_STREAMS_OF_CALLER + 1 }, (_, n) => `guest ${n}`)
    const { listen, streams, closed } = await world(db, new Guests(...names))
    const readers: EventReader[] = []
    async function refused(name: string, status: number): Promise<void> {
      const reader = await listen(name)
      assert.equal(reader.response.status, status)
      assert.equal(reader.response.headers.get('retry-after'), '5')
      await reader.close()
    }
    for (const name of names.slice(0, -1)) {
      for (let n = 0; n < MOST_STREAMS_OF_CALLER; n++) readers.push(await listen(name))
      await refused(name, 429)
    }
    assert.equal(streams.open, MOST_STREAMS)
    await refused(names.at(-1) as string, 503)
    await Promise.all(readers.map((reader) => reader.close()))
    await closed()
    const again = await listen(names[0] as string)
    assert.equal(again.response.status, 200)
    await again.close()
    await closed()
  })

  test('are read no faster than the caller takes them, and given up when it takes nothing', async () => {
    const db = await open()
    const { clock, project, port, path, streams } = await world(db, new Guests('ada'))
    const many = Array.from({ length: 20_000 }, (_, n) => n + 1)
    for (let from = 0; from < many.length; from += 2_000) await change(db, project, ...many.slice(from, from + 2_000))
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    after(() => socket.destroy())
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ada\r\naccept: text/event-stream\r\n\r\n`,
    )
    await once(socket, 'data')
    socket.pause()
    // Nothing but the patience of the server is waited for, once every buffer on the way is full.
    while (streams.open > 0) {
      await clock.advance(1_000)
      await nextTurn()
    }
    let received = 0
    socket.on('data', (data: Buffer) => {
      received += data.toString('latin1').split('event: change').length - 1
    })
    socket.resume()
    await once(socket, 'close')
    assert.ok(received < many.length, `${received} changes came after all`)
  })
})
