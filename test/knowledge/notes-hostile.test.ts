import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { chunkNote } from '../../src/knowledge/semantic/chunk/chunk-note.ts'
import { parseBody } from '../../src/knowledge/text/body/parse-body.ts'
import { eachServer } from './each-server.ts'
import { bodyOf, headOf, type NotesApi, type WireNote } from './notes-api.ts'
import { HARMLESS_TEXT, SLOW_TEXTS } from './slow-texts.ts'

const NUL = '\u0000'
const HALF = '\ud800'
const TRAVERSALS = [
  '..',
  '../x',
  'x/..',
  'x/../..',
  'a/../../b',
  '..\\x',
  'a\\..\\b',
  '.. /x',
  '../.',
  '.../x',
  '....//x',
  '%2e%2e/x',
  '%2e%2e%2fx',
  '..%2fx',
  '..%5cx',
  '%252e%252e/x',
  '..%c0%afx',
  '\uff0e\uff0e/x',
  '..\u2215x',
  '.\u200b./x',
  '\\x',
  '\\\\server\\share',
  '//server/share',
  'C:\\x',
  'C:x',
  '/C:/x',
  '~',
  '~root/x',
  'a/~b',
  `x${NUL}`,
  `x${NUL}/../y`,
  'a\nb',
  'a\u001bb',
  `${HALF}`,
  'a\u202eb',
  '.git',
  'a/.hidden',
  'CON',
  'a/nul',
  'a/aux.d',
  'ends.',
  `${'d/'.repeat(300)}x`,
  'w'.repeat(256),
]

// One that is read in time with the square of its length takes thousands of times as long.
const GENEROUS = 10

test('texts that are made to be slow are read in one go, as a harmless one is', () => {
  for (const read of [parseBody, (text: string) => chunkNote({ title: 'A', created_at: 0 }, text)]) {
    const harmless = cpuOf(() => read(HARMLESS_TEXT))
    for (const [title, text] of Object.entries(SLOW_TEXTS)) {
      const taken = cpuOf(() => read(text))
      assert.ok(taken <= GENEROUS * harmless, `${title} takes ${taken} µs, a harmless text ${harmless} µs`)
    }
  }
})

/** Of this thread, whatever else the machine does. In microseconds. */
function cpuOf(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return user + system
}

eachServer('hostile input', (api) => {
  /** The note is in order: its text is what its checksum says and what a reader is told. */
  async function assertInOrder(note: WireNote): Promise<void> {
    assert.equal(note.checksum, hash('sha256', note.content))
    assert.ok(note.content.isWellFormed() && !note.content.includes(NUL))
    assert.deepEqual(await api().get(note.external_id), note)
  }

  /** Refused with the status, or a note in order; and the server still answers. */
  async function send(wish: Parameters<NotesApi['create']>[0], status: number): Promise<WireNote & { detail: string }> {
    const { body } = await api().post({ directory: 'hostile', ...wish }, status)
    if (status === 201) await assertInOrder(body)
    else assert.equal(typeof body.detail, 'string')
    await api().api.get('/v2/projects', 200)
    return body
  }

  test('folders that lead out of the project are refused, however they are written', async () => {
    const before = await api().paths()
    for (const directory of TRAVERSALS) {
      const { body } = await api().post({ title: 'x', directory }, 400)
      assert.ok(body.detail.isWellFormed() && body.detail.length < 400, directory)
      const status = directory.length > 500 ? 422 : 400
      await api().moveDirectory(directory, 'ok', status)
      await api().moveDirectory('ok', directory, status)
      await api().deleteDirectory(directory, status)
    }
    assert.deepEqual(await api().paths(), before)
  })

  test('titles become file names inside their folder, or are refused', async () => {
    for (const title of [
      '../../etc/passwd',
      '..\\..\\x',
      '/etc/shadow',
      'C:\\y',
      '~/z',
      `a${NUL}b${HALF}c`,
      'a\u202eb\nc',
    ]) {
      const note = await send({ title, directory: 'titles' }, 201)
      assert.match(note.file_path, /^titles\/[^/\\]+\.md$/)
      assert.ok(!note.file_path.includes('..') && note.file_path.isWellFormed())
    }
    await send({ title: '..', directory: 'titles' }, 422)
    for (const title of ['CON', 'nul.txt']) await send({ title, directory: 'titles' }, 400)
    for (const title of ['x'.repeat(250), 'é'.repeat(200), '文'.repeat(500), '😀'.repeat(500), '𠀀'.repeat(500)]) {
      const note = await send({ title, directory: 'titles' }, 201)
      assert.ok(Buffer.byteLength(note.file_path) <= 'titles/'.length + 255)
      assert.equal(note.title, title)
    }
    await send({ title: '😀'.repeat(501), directory: 'titles' }, 422)
    for (const title of [
      '__proto__',
      'constructor',
      'null',
      'true',
      '0',
      '2026-01-01',
      '- [x]',
      '# h',
      'it\'s: "q"',
      '{{}}',
      '&a',
      '*a',
      '!!y',
    ]) {
      const note = await send({ title, directory: 'words' }, 201)
      assert.equal(note.title, title)
    }
  })

  test('what no database can hold is left out wherever it stands', async () => {
    const note = await send(
      {
        title: `Nul${NUL} half${HALF}`,
        note_type: `a${NUL}b${HALF}`,
        content: `---\naliases: ["n${NUL}", "\\0x", "\\ud800"]\n---\nbody${NUL} ${HALF} [[t${NUL}${HALF}]]\n- [c${NUL}] d${HALF} #e${NUL} (f${NUL})`,
        entity_metadata: { [`k${NUL}`]: `v${NUL}`, deep: { [`${HALF}`]: [`${NUL}`, `${HALF}`] } },
      },
      201,
    )
    assert.equal(note.note_type, 'ab\ufffd')
    assert.deepEqual(note.entity_metadata.k, 'v')
    for (const edit of [
      { operation: 'append', content: `more${NUL}${HALF}` },
      { operation: 'prepend', content: `\ufeffbefore${NUL}` },
      { operation: 'replace_section', section: `New${NUL}${HALF}`, content: `${NUL}x` },
      { operation: 'find_replace', find_text: 'before', content: `${HALF}${NUL}` },
      { operation: 'append', content: '', metadata: { [`m${NUL}`]: `${NUL}${HALF}`, aliases: [`${NUL}z`] } },
    ]) {
      await assertInOrder((await api().patch(note.external_id, edit, 200)).body)
    }
    await api().patch(note.external_id, { operation: 'find_replace', find_text: NUL, content: 'x' }, 400)
    for (const identifier of [`a${NUL}b`, HALF, NUL]) {
      await api().api.post(`${api().base}/resolve`, 404, { body: { identifier, strict: true } })
    }
  })

  test('a question with a NUL in it is answered as one without, and a cursor with one is refused', async () => {
    await send({ title: 'Found', directory: 'none', note_type: 'nul_type' }, 201)
    const ask = async (path: string, status = 200) =>
      (await api().api.get(`/v2/${api().projectId}${path}`, status)).body
    assert.equal((await ask('/directory/list?dir_name=n%00one&file_name_glob=*')).total, 1)
    assert.equal((await ask('/directory/list?dir_name=%00')).total, 0, 'what is nothing without it is not the root')
    assert.equal((await ask('/directory/list?dir_name=%00/%00&depth=2')).total, 0)
    assert.equal((await ask('/directory/list?dir_name=/&file_name_glob=%00')).total > 0, true)
    assert.equal((await ask('/knowledge/graph?note_type=nul_%00type')).nodes.length, 1)
    assert.deepEqual((await ask('/knowledge/graph?note_type=%00')).nodes, [])
    await ask('/knowledge/graph?directory=%00', 400)
    const cursor = Buffer.from('path:0:a\0b').toString('base64url')
    for (const list of ['graph', 'orphans']) {
      assert.match((await ask(`/knowledge/${list}?cursor=${cursor}`, 400)).detail, /cursor/)
    }
    for (const path of ['/memory/a%00b', '/memory/recent?timeframe=%00']) await ask(path, 422)
    for (const path of ['/knowledge/changes?since=%00', '/knowledge/trash?cursor=%00']) await ask(path, 400)
  })

  test('a text over the limit is refused before it is read', async () => {
    const longest = await send({ title: 'Longest', content: 'x'.repeat(2_000_000) }, 201)
    const again = { title: 'Longest', content: longest.content }
    await api().put(longest.external_id, again, 200)
    await api().patch(longest.external_id, { operation: 'append', content: 'x' }, 400)
    await send({ title: 'Too long', content: `---\n${headOf(longest)}---\n\n${'x'.repeat(2_000_001)}` }, 413)
    await send({ title: 'Too long', content: 'x'.repeat(2_000_001) }, 413)
    await send({ title: 'Too long', content: 'x'.repeat(10_000_000) }, 413)
    const note = await send({ title: 'Grows', content: 'a'.repeat(1_000_000) }, 201)
    const { body } = await api().patch(note.external_id, { operation: 'append', content: 'b'.repeat(1_100_000) }, 400)
    assert.match(body.detail, /2000000/)
    const bomb = {
      operation: 'find_replace',
      find_text: 'a'.repeat(10),
      content: 'c'.repeat(100_000),
      expected_replacements: 100_000,
    }
    await api().patch(note.external_id, bomb, 400)
    await assertInOrder(await api().get(note.external_id))
    await api().delete(note.external_id)
  })

  test('a text of too many lines is refused, however they end', async () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const { detail } = await send({ title: 'Lines', content: `a${end}`.repeat(250_001) }, 413)
      assert.match(detail, /more than the 250000 lines/)
    }
    const note = await send({ title: 'Lines', content: 'a\n'.repeat(240_000) }, 201)
    const { body } = await api().patch(note.external_id, { operation: 'append', content: 'b\n'.repeat(20_000) }, 400)
    assert.match(body.detail, /more than 250000 lines/)
    await api().delete(note.external_id)
  })

  test('texts that are made to be slow are kept as they are', async () => {
    for (const [title, content] of Object.entries(SLOW_TEXTS)) {
      const note = await send({ title, content }, 201)
      await assertInOrder(note)
      assert.equal(bodyOf(note).trim(), content.trim(), title)
    }
  })

  test('very many facts and links are all kept', async () => {
    const facts = await api().create({ title: 'Facts', content: '- [fact] x #t\n'.repeat(100_000) })
    assert.equal(facts.observations.length, 100_000)
    const links = Array.from({ length: 10_000 }, (_, n) => `- rel [[n${n}]]`).join('\n')
    const linking = await api().create({ title: 'Links', content: links })
    assert.equal(linking.relations.length, 10_000)
    for (const { external_id: id } of [facts, linking]) assert.equal(await api().delete(id), true)
  })

  test('frontmatter and metadata have bounds in depth, size and meaning', async () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 50; depth++) deep = [deep]
    await send({ title: 'Deep', entity_metadata: { deep } }, 400)
    await send({ title: 'Wide', entity_metadata: { wide: 'x'.repeat(1_000_000) } }, 400)
    const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n]))
    await send({ title: 'Many', entity_metadata: keys }, 400)
    await send({ title: 'Key', entity_metadata: { ['k'.repeat(1_000)]: 1 } }, 400)
    const json = { headers: { 'content-type': 'application/json' } }
    await api().post(`{"title":"Raw","entity_metadata":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`, 422, json)
    await api().post('{"title":"Raw","entity_metadata":{"__proto__":{"polluted":1}}}', 422, json)
    await api().post('{"title":"Raw","entity_metadata":{"a":1e999}}', 400, json)
    for (const yaml of [
      'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]',
      'odd: {"content": 1, "handler": 2}\nmetadata: x\ncontent: y',
      '? complex\n: value',
      'a: !!binary aGk=',
      'title: [a, b]\ntype: null\ntags: 7\npermalink: [x]\naliases: {a: 1}',
      'a: 0x1F\nb: .inf\nc: 12345678901234567890\nd: 1_000',
    ]) {
      const note = await send({ title: `Odd ${hash('md5', yaml).slice(0, 6)}`, content: `---\n${yaml}\n---\n` }, 201)
      assert.notEqual(headOf(note), '')
      assert.equal((await api().patch(note.external_id, { operation: 'append', content: 'x' }, 200)).body.version, 2)
    }
    const bomb = Array.from(
      { length: 20 },
      (_, n) => `a${n}: &a${n} [${n === 0 ? 'x' : `*a${n - 1}, *a${n - 1}, *a${n - 1}`}]`,
    )
    await send({ title: 'Laughs', content: `---\n${bomb.join('\n')}\n---\n` }, 400)
    await send({ title: 'Long yaml', content: `---\na: ${'x'.repeat(100_000)}\n---\n` }, 400)
    await send({ title: 'Flow', content: `---\na: ${'['.repeat(30_000)}\n---\n` }, 400)
  })

  test('a body of ten megabytes of anything is answered', async () => {
    const json = { headers: { 'content-type': 'application/json' } }
    const { body } = await api().post(`{"title":"x","content":"${'\\u0000'.repeat(1_700_000)}"}`, 201, json)
    assert.equal(bodyOf(body), '')
    await api().post('['.repeat(10_000_000), 422, json)
    await api().api.get('/v2/projects', 200)
  })
})
