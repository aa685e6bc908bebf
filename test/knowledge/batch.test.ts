import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/platform/ids/uuid.ts'
import { eachServer } from './each-server.ts'
import { type BatchAnswer, bodyOf, NOBODY, type NotesApi, type WireNote } from './notes-api.ts'
import { search } from './search-api.ts'

/** What is told of a note that a batch changed. */
function summaryOf(note: WireNote) {
  const { external_id, id, title, permalink, file_path, version, checksum } = note
  return { external_id, entity_id: id, title, permalink, file_path, version, etag: `"${checksum}"` }
}

function idsIn({ results }: BatchAnswer): string[] {
  return results.flatMap(({ entity }) => entity?.external_id ?? [])
}

function statusesOf({ results }: BatchAnswer): number[] {
  return results.map(({ status }) => status)
}

eachServer('POST /batch', (api) => {
  let projects = 0
  const project = () => api().project(`Batch ${++projects}`)

  /** Everything that could show that something was changed. */
  async function traces(notes: NotesApi) {
    const base = `/v2/${notes.projectId}`
    const { body: audit } = await notes.api.get('/api/v2/audit/events', 200)
    return {
      graph: await notes.graph(),
      changes: (await notes.api.get(`${notes.base}/changes`, 200)).body.changes,
      trash: (await notes.api.get(`${notes.base}/trash`, 200)).body,
      found: (await search(notes, 'needle')).results,
      recent: (await notes.api.get(`${base}/memory/recent`, 200)).body.results,
      info: (await notes.api.get(`/v2/projects/${notes.projectId}/info`, 200)).body.statistics,
      audit: audit.data.filter(({ attributes }: { attributes: { action: string } }) =>
        attributes.action.startsWith('note.'),
      ),
    }
  }

  for (const atomic of [false, true]) {
    const how = atomic ? 'atomically' : 'one by one'

    test(`creates, replaces, edits, moves and deletes ${how}, and answers with summaries`, async () => {
      const notes = await project()
      const replaced = await notes.create({ title: 'Replaced', content: 'old' })
      const edited = await notes.create({ title: 'Edited', content: 'old' })
      const moved = await notes.create({ title: 'Moved' })
      const deleted = await notes.create({ title: 'Deleted' })
      const id = newId()
      const { body } = await notes.batch(
        [
          {
            op: 'create',
            title: 'Created',
            directory: 'd',
            content: 'new',
            note_type: 'Task',
            entity_metadata: { k: 1 },
          },
          { op: 'put', entity_id: id, title: 'Put', content: 'put' },
          { op: 'put', entity_id: replaced.external_id, title: 'Renamed', content: 'new' },
          { op: 'patch', entity_id: edited.external_id, operation: 'find_replace', find_text: 'old', content: 'new' },
          { op: 'move', entity_id: moved.external_id.toUpperCase(), destination_path: 'there/' },
          { op: 'delete', entity_id: deleted.external_id },
          { op: 'delete', entity_id: NOBODY },
        ],
        200,
        { atomic },
      )
      const [createdId = ''] = idsIn(body)
      const created = await notes.get(createdId)
      assert.deepEqual([created.file_path, created.note_type, bodyOf(created)], ['d/Created.md', 'task', 'new'])
      assert.equal(created.entity_metadata.k, 1)
      const renamed = await notes.get(replaced.external_id)
      assert.deepEqual([renamed.file_path, bodyOf(renamed), renamed.version], ['Renamed.md', 'new', 2])
      assert.equal(bodyOf(await notes.get(edited.external_id)), 'new')
      assert.equal((await notes.get(moved.external_id)).file_path, 'there/Moved.md')
      await notes.get(deleted.external_id, 404)
      const done = async (index: number, op: string, status: number, noteId: string) => ({
        index,
        op,
        status,
        entity: summaryOf(await notes.get(noteId)),
      })
      assert.deepEqual(body, {
        results: [
          await done(0, 'create', 201, createdId),
          await done(1, 'put', 201, id),
          await done(2, 'put', 200, replaced.external_id),
          await done(3, 'patch', 200, edited.external_id),
          await done(4, 'move', 200, moved.external_id),
          { index: 5, op: 'delete', status: 200, deleted: true },
          { index: 6, op: 'delete', status: 200, deleted: false },
        ],
        succeeded: 7,
        failed: 0,
      })
    })

    test(`a later operation sees what an earlier one did, ${how}`, async () => {
      const notes = await project()
      const [hub, spoke, gone] = [newId(), newId(), newId()]
      const { body } = await notes.batch(
        [
          { op: 'put', entity_id: hub, title: 'Hub', content: '- needs [[Spoke]]\n[[Gone]]\n' },
          { op: 'put', entity_id: spoke, title: 'Spoke', content: '[[Hub]]' },
          { op: 'patch', entity_id: spoke, operation: 'append', content: 'one needle\n' },
          { op: 'patch', entity_id: spoke, operation: 'append', content: 'two\n' },
          { op: 'put', entity_id: gone, title: 'Gone' },
          { op: 'move', entity_id: hub, destination_path: 'wheel/Hub.md', update_links: true },
          { op: 'delete', entity_id: gone },
          { op: 'create', title: 'Hub', content: 'where the other one was' },
        ],
        200,
        { atomic },
      )
      assert.deepEqual(statusesOf(body), [201, 201, 200, 200, 201, 200, 200, 201])
      const whole = await notes.get(hub)
      assert.deepEqual(
        whole.relations.map(({ direction, to_name: name, to_external_id: to }) => [direction, name, to]),
        [
          ['outgoing', 'Spoke', spoke],
          ['outgoing', 'Gone', null],
          ['incoming', 'Hub', hub],
        ],
      )
      assert.match(bodyOf(await notes.get(spoke)), /one needle\ntwo\n$/)

      const { body: revisions } = await notes.api.get(`${notes.at(spoke)}/revisions`, 200)
      assert.deepEqual(
        revisions.revisions.map(({ version }: { version: number }) => version),
        [3, 2, 1],
      )
      const { body: first } = await notes.api.get(`${notes.at(spoke)}/revisions/1`, 200)
      assert.equal(bodyOf(first), '[[Hub]]')
      const { changes, audit, found, trash, info } = await traces(notes)
      assert.deepEqual(
        changes.map(({ external_id: id, change, version }: Record<string, unknown>) => [id, change, version]),
        [
          [spoke, 'updated', 3],
          [hub, 'moved', 2],
          [gone, 'deleted', 2],
          [body.results[7]?.entity?.external_id, 'created', 1],
        ],
      )
      assert.deepEqual(
        audit
          .slice(0, 8)
          .map(({ attributes }: { attributes: { action: string } }) => attributes.action)
          .reverse(),
        ['created', 'created', 'updated', 'updated', 'created', 'moved', 'deleted', 'created'].map(
          (done) => `note.${done}`,
        ),
      )
      assert.deepEqual(
        found.map(({ external_id: id }) => id),
        [spoke],
      )
      assert.equal(trash.entities.length, 1)
      assert.equal(info.total_entities, 3)
    })
  }

  test('one that fails does not stop the others, and is told what it would have been told alone', async () => {
    const notes = await project()
    const other = await (await project()).create({ title: 'Elsewhere' })
    const note = await notes.create({ title: 'Note', content: 'text' })
    const stale = { if_match: `"${'0'.repeat(64)}"` }
    const failing: [status: number, text: RegExp, operation: object][] = [
      [409, /already exists/, { op: 'create', title: 'NOTE' }],
      [400, /directory/, { op: 'create', title: 'x', directory: '../x' }],
      [400, /frontmatter/i, { op: 'create', title: 'x', content: '---\na: [\n---\n' }],
      [415, /text\/markdown/, { op: 'create', title: 'x', content_type: 'text/html' }],
      [413, /2000000/, { op: 'create', title: 'x', content: 'x'.repeat(2_000_001) }],
      [422, /file name/, { op: 'create', title: '..' }],
      [422, /UUID/, { op: 'put', entity_id: 'nobody', title: 'x' }],
      [409, /another project/, { op: 'put', entity_id: other.external_id, title: 'x' }],
      [412, /exists already/, { op: 'put', entity_id: note.external_id, title: 'x', if_none_match: '*' }],
      [412, /If-Match/, { op: 'put', entity_id: note.external_id, title: 'x', ...stale }],
      [412, /If-Match/, { op: 'put', entity_id: newId(), title: 'x', if_match: '*' }],
      [404, /not found/, { op: 'patch', entity_id: 'nobody', operation: 'append', content: 'x' }],
      [404, /not found/, { op: 'patch', entity_id: other.external_id, operation: 'append', content: 'x' }],
      [400, /find_text/, { op: 'patch', entity_id: note.external_id, operation: 'find_replace', content: 'x' }],
      [412, /If-Match/, { op: 'patch', entity_id: note.external_id, operation: 'append', content: 'x', ...stale }],
      [400, /same/, { op: 'move', entity_id: note.external_id, destination_path: 'Note.md' }],
      [412, /If-Match/, { op: 'move', entity_id: note.external_id, destination_path: 'x.md', ...stale }],
      [412, /If-Match/, { op: 'delete', entity_id: note.external_id, ...stale }],
    ]
    const operations = failing.flatMap(([, , operation], n) => [operation, { op: 'create', title: `Between ${n}` }])
    const { body } = await notes.batch(operations)
    assert.deepEqual([body.succeeded, body.failed], [failing.length, failing.length])
    for (const [n, [status, text, operation]] of failing.entries()) {
      const { index, status: told, entity, error } = body.results[2 * n] ?? {}
      assert.deepEqual([index, told, entity], [2 * n, status, undefined], JSON.stringify(operation))
      assert.match(error?.detail ?? '', text)
      assert.deepEqual(Object.keys(error ?? {}), ['detail'])
    }
    assert.deepEqual(await notes.get(note.external_id), note)
    assert.equal((await notes.paths()).length, 1 + failing.length)

    const { body: alone } = await notes.post({ title: 'NOTE' }, 409)
    assert.deepEqual(body.results[0]?.error, alone)
  })

  test('an atomic one that fails leaves nothing of all the others, and names the one that failed', async () => {
    const notes = await project()
    const kept = await notes.create({ title: 'Kept', content: '[[Waiting]] needle' })
    const doomed = await notes.create({ title: 'Doomed', content: 'needle' })
    const whole = [await notes.get(kept.external_id), await notes.get(doomed.external_id)]
    const before = await traces(notes)
    const good = [
      { op: 'create', title: 'Waiting', content: 'needle [[Kept]]' },
      { op: 'patch', entity_id: kept.external_id, operation: 'append', content: 'needle\n' },
      { op: 'move', entity_id: kept.external_id, destination_path: 'away/Kept.md' },
      { op: 'delete', entity_id: doomed.external_id },
    ]
    for (const [status, text, bad] of [
      [409, /already exists/, { op: 'create', title: 'waiting' }],
      [400, /directory/, { op: 'create', title: 'x', directory: '../x' }],
      [404, /not found/, { op: 'patch', entity_id: doomed.external_id, operation: 'append', content: 'x' }],
      [412, /If-Match/, { op: 'delete', entity_id: kept.external_id, if_match: `"${kept.checksum}"` }],
    ] as const) {
      const { body } = await notes.batch([...good, bad, { op: 'create', title: 'After' }], status, { atomic: true })
      assert.match(body.detail, /^operations\[4\]: .*\(nothing was changed\)$/)
      assert.match(body.detail, text)
      assert.deepEqual(Object.keys(body).sort(), ['detail', 'index'])
      assert.equal(body.index, 4)
      assert.deepEqual(await traces(notes), before)
      assert.deepEqual([await notes.get(kept.external_id), await notes.get(doomed.external_id)], whole)
    }
    await notes.batch(good, 200, { atomic: true })
    assert.deepEqual(await notes.paths(), ['Waiting.md', 'away/Kept.md'])
  })

  test('of several that fail an atomic one names the first, also when a later one could be told without looking', async () => {
    const notes = await project()
    const unknown = { op: 'patch', entity_id: NOBODY, operation: 'append', content: 'x' }
    const { body } = await notes.batch([unknown, { op: 'create', title: '..' }], 404, { atomic: true })
    assert.equal(body.index, 0)
    assert.equal((await notes.batch([{ op: 'create', title: '..' }, unknown], 422, { atomic: true })).body.index, 0)
  })

  test('preconditions hold for the note as the operations before left it', async () => {
    const notes = await project()
    const id = newId()
    const put = { op: 'put', entity_id: id, title: 'Note', content: 'one' }
    const append = { op: 'patch', entity_id: id, operation: 'append', content: 'two\n' }
    const first = (await notes.batch([{ ...put, if_none_match: '*' }])).body.results[0]?.entity
    const { body } = await notes.batch([
      { ...append, if_match: first?.etag },
      { ...append, if_match: first?.etag },
      { ...append, if_match: '*' },
    ])
    assert.deepEqual(statusesOf(body), [200, 412, 200])
    assert.equal((await notes.get(id)).version, 3)
    const { body: same } = await notes.batch([put, put], 200, { atomic: true })
    assert.deepEqual(
      same.results.map(({ entity }) => entity?.version),
      [4, 4],
    )
  })

  test('takes a hundred operations, and as many atomically', async () => {
    const notes = await project()
    const operations = (folder: string) =>
      Array.from({ length: 100 }, (_, n) => ({
        op: 'create',
        title: `Note ${n}`,
        directory: folder,
        content: `[[${folder}/Note ${(n + 1) % 100}]]`,
      }))
    assert.equal((await notes.batch(operations('a'))).body.succeeded, 100)
    assert.equal((await notes.batch(operations('b'), 200, { atomic: true })).body.succeeded, 100)
    const { nodes, edges } = await notes.graph()
    assert.deepEqual([nodes.length, edges.length], [200, 200])
  })

  test('a malformed operation refuses all of them, and the answer says where it is', async () => {
    const notes = await project()
    const good = { op: 'create', title: 'Good' }
    const refused = async (body: unknown) => {
      const answer = await notes.api.post(`${notes.base}/batch`, 422, { body })
      return answer.body.errors.map(({ msg }: { msg: string }) => msg)
    }
    const cases: [operation: unknown, ...problems: string[]][] = [
      [{ op: 'create' }, 'title is required'],
      [{ op: 'create', title: ' ' }, 'title must not be empty'],
      [{ op: 'create', title: 'x', content: 7 }, 'content must be a string or null'],
      [{ op: 'create', title: 'x', entity_id: NOBODY }, 'entity_id is not a known member'],
      [{ op: 'put', title: 'x' }, 'entity_id is required'],
      [{ op: 'put', title: 'x', entity_id: NOBODY, if_none_match: '"x"' }, 'if_none_match must be "*"'],
      [{ op: 'patch', entity_id: NOBODY, operation: 'append' }, 'content is required'],
      [{ op: 'patch', entity_id: 7, operation: 'append', content: 'x' }, 'entity_id must be a string'],
      [{ op: 'move', entity_id: NOBODY }, 'destination_path is required'],
      [{ op: 'move', entity_id: NOBODY, destination_path: '' }, 'destination_path must not be empty'],
      [{ op: 'delete' }, 'entity_id is required'],
      [{ op: 'delete', entity_id: NOBODY, if_mach: 'x' }, 'if_mach is not a known member'],
      [{ op: 'delete', entity_id: NOBODY, if_match: 7 }, 'if_match must be a string'],
      [{ op: 'delete', entity_id: NOBODY, if_match: '"'.repeat(8_001) }, 'if_match must have at most 8000 characters'],
      [{ op: 'copy' }, 'op must be one of "create", "put", "patch", "move", "delete"'],
      [{ title: 'x' }, 'op must be one of "create", "put", "patch", "move", "delete"'],
    ]
    for (const [operation, ...problems] of cases) {
      assert.deepEqual(
        await refused({ operations: [good, operation, good] }),
        problems.map((problem) => `operations[1].${problem}`),
      )
    }
    const all = cases.map(([operation]) => operation)
    assert.deepEqual(
      await refused({ operations: all }),
      cases.flatMap(([, ...problems], n) => problems.map((problem) => `operations[${n}].${problem}`)),
    )
    assert.deepEqual(await refused({ operations: [good, null] }), ['operations[1] must be an object'])
    assert.deepEqual(await refused({}), ['operations is required'])
    assert.deepEqual(await refused({ operations: [] }), ['operations must not be empty'])
    assert.deepEqual(await refused({ operations: new Array(101).fill(good) }), [
      'operations must have at most 100 items',
    ])
    assert.deepEqual(await refused({ operations: [good], atomic: 'yes' }), ['atomic must be true or false'])
    assert.deepEqual(await refused({ operations: [good], atom: true }), ['atom is not a known member'])
    assert.deepEqual(await notes.paths(), [])
  })

  test('is 404 for an unknown project, whatever its operations are', async () => {
    for (const base of [`/v2/${NOBODY}`, `/v2/projects/${NOBODY}`, '/v2/main']) {
      for (const atomic of [false, true]) {
        const body = { operations: [{ op: 'delete', entity_id: NOBODY }], atomic }
        assert.match((await api().api.post(`${base}/knowledge/batch`, 404, { body })).body.detail, /Project/)
      }
    }
  })

  test('with an Idempotency-Key acts once and answers the same again, failures included', async () => {
    const notes = await project()
    const headers = { 'idempotency-key': `batch-${projects}` }
    const operations = [
      { op: 'create', title: 'Once' },
      { op: 'create', title: 'once' },
      { op: 'delete', entity_id: NOBODY },
    ]
    const first = await notes.batch(operations, 200, {}, headers)
    assert.deepEqual(statusesOf(first.body), [201, 409, 200])
    const alias = `/v2/projects/${notes.projectId}/knowledge/batch`
    const again = await notes.api.post(alias, 200, { body: { operations }, headers })
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal(again.text, first.text)
    assert.deepEqual(await notes.paths(), ['Once.md'])
    assert.match((await notes.batch(operations, 422, { atomic: true }, headers)).body.detail, /Idempotency-Key/)

    const atomic = { 'idempotency-key': `atomic-${projects}` }
    const refused = await notes.batch(operations, 409, { atomic: true }, atomic)
    assert.equal((await notes.batch(operations, 409, { atomic: true }, atomic)).text, refused.text)
    const kept = { 'idempotency-key': `kept-${projects}` }
    const create = [{ op: 'create', title: 'For somebody@example.org' }]
    const done = await notes.batch(create, 200, { atomic: true }, kept)
    assert.equal((await notes.batch(create, 200, { atomic: true }, kept)).text, done.text)
    await notes.batch([{ op: 'create' }], 422, {}, { 'idempotency-key': `malformed-${projects}` })
    await notes.batch([{ op: 'create', title: 'Later' }], 200, {}, { 'idempotency-key': `malformed-${projects}` })
  })
})
