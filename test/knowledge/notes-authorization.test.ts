import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PERMISSIONS } from '../../src/platform/auth/permissions.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import {
  bearerHeader,
  type CredentialHeaders,
  incompleteCredentials,
  scopedKeys,
  sessionOf,
  uselessCredentials,
} from '../support/credential-cases.ts'
import { offeredOperations } from '../support/operations.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { NOBODY, NotesApi, type WireNote } from './notes-api.ts'
import { NOTES_OPERATIONS, type NotesOperation } from './notes-operations.ts'

type Listed = NotesOperation & { method: string; path: string; title: string }

const OPERATIONS: Listed[] = Object.entries(NOTES_OPERATIONS).flatMap(([title, operation]) => {
  const [method, path] = title.split(' ') as [string, string]
  const listed = { ...operation, method, path, title }
  return [listed, { ...listed, path: path.replace('/v2/', '/v2/projects/'), title: `${title}, by its other address` }]
})
const ALL = PERMISSIONS.map(({ name }) => name).filter((name) => name !== 'admin')
const ROLES = {
  admin: ['notes_read', 'notes_write', 'projects_write'],
  standard: ['notes_read', 'notes_write', 'projects_write'],
  read_only: ['notes_read'],
  none: [],
}

let notes: NotesApi
let callers: Callers
let anybody: TestClient
let secret: WireNote
let trashed: WireNote
before(async () => {
  notes = await NotesApi.start({ mode: 'serve' })
  callers = await openCallers(notes.server)
  anybody = client(notes.server, 'none')
  secret = await notes.create({
    title: 'Secret plan',
    directory: 'vault',
    content: '- [code] hush-hush\n- uses [[Secret plan]]',
  })
  trashed = await notes.create({ title: 'Torn up', directory: 'vault' })
  await notes.delete(trashed.external_id)
})
after(async () => {
  await callers[Symbol.asyncDispose]()
  await notes.server.stop()
})

interface Ids {
  project: string
  note: string
}

const UNKNOWN: Ids = { project: NOBODY, note: NOBODY }
const real = ({ path }: Listed): Ids => ({
  project: notes.projectId,
  note: path.includes('/trash/') ? trashed.external_id : secret.external_id,
})

function call(operation: Listed, status: number, headers: CredentialHeaders, { project, note }: Ids) {
  const path = operation.path
    .replace('{project_id}', project)
    .replace('{entity_id}', note)
    .replace('{version}', '1')
    .replace('*', 'main/vault/secret-plan')
  return anybody.call(operation.method, path, status, { headers, body: operation.body })
}

/** These words and nothing else, whether or not there is what the path names. */
async function assertRefused(operation: Listed, status: 401 | 403, headers: CredentialHeaders, detail: string) {
  for (const ids of [real(operation), UNKNOWN, { project: 'main', note: '%00' }]) {
    const answer = await call(operation, status, headers, ids)
    assert.deepEqual(answer.body, { detail }, operation.title)
    assert.equal(answer.headers.get('etag'), null)
    assert.equal(answer.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null)
  }
}

async function assertUntouched(): Promise<void> {
  assert.deepEqual(await notes.get(secret.external_id), secret)
  assert.deepEqual(await notes.paths(), ['vault/Secret plan.md'])
  const { body } = await notes.api.get(`${notes.base}/trash`, 200)
  assert.equal(body.entities.length, 1)
}

async function assertJudged(held: readonly string[], headers: CredentialHeaders): Promise<void> {
  for (const operation of OPERATIONS) {
    const { permission } = operation
    if (!held.includes(permission)) await assertRefused(operation, 403, headers, `Missing permission: ${permission}`)
    else {
      const { body } = await call(operation, 404, headers, UNKNOWN)
      assert.ok(body.detail.includes(NOBODY), operation.title)
    }
  }
}

test('every operation on notes has its line in the table of rules, and every line its operation', async () => {
  const offered = await offeredOperations(notes.server, (path) => path.startsWith('/v2/{project_id}/'))
  assert.deepEqual(offered, Object.keys(NOTES_OPERATIONS).sort())
})

describe('every operation on notes', () => {
  test('is 401 without complete credentials', async () => {
    for (const headers of Object.values(incompleteCredentials(notes.server))) {
      for (const operation of OPERATIONS) await assertRefused(operation, 401, headers, 'Unauthorized')
    }
    await assertUntouched()
  })

  test('is 403 with credentials that do not work, also of an owner who was disabled', async () => {
    for (const headers of Object.values(await uselessCredentials(notes.server, callers))) {
      for (const operation of OPERATIONS) await assertRefused(operation, 403, headers, 'Forbidden')
    }
    await assertUntouched()
  })

  for (const [role, held] of Object.entries(ROLES)) {
    test(`lets exactly those pass that it should: ${role === 'none' ? 'no role' : `the managed role ${role}`}`, async () => {
      const { token } = await callers.make({ roles: role === 'none' ? [] : [role] })
      await assertJudged(held, bearerHeader(token))
      await assertUntouched()
    })
  }

  test('is satisfied with a custom role that has just the permission, and not with one that has all others', async () => {
    for (const permissions of [['notes_read'], ['notes_write'], ALL.filter((name) => !name.startsWith('notes_'))]) {
      // Reading notes is a base permission: it is in every role.
      const held = ['notes_read', ...permissions]
      await assertJudged(held, bearerHeader((await callers.make({ permissions })).token))
    }
    await assertUntouched()
  })

  test("counts only what an administrator's key is narrowed to", async () => {
    const owner = await callers.make({ roles: ['admin'] })
    for (const scopes of [['notes_read'], ['notes_write'], ALL.filter((name) => !name.startsWith('notes_'))]) {
      await assertJudged(scopes, await scopedKeys(notes.server, owner.client, scopes))
    }
    await assertUntouched()
  })

  test('that changes something is 403 with the cookie of a session alone, and passes with its X-CSRF-Token', async () => {
    const { userId } = await callers.make({ roles: ['admin'] })
    const { cookie, csrf_token: token } = await sessionOf(callers, userId)
    for (const operation of OPERATIONS) {
      if (operation.method !== 'GET') {
        const detail = 'The X-CSRF-Token header is missing or wrong'
        await assertRefused(operation, 403, { cookie }, detail)
      }
      await call(operation, 404, { cookie, 'x-csrf-token': token }, UNKNOWN)
    }
    await assertUntouched()
  })
})
