import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { NOBODY, NotesApi } from './notes-api.ts'

let main: NotesApi
let projects = 0
before(async () => {
  main = await NotesApi.start()
})
after(() => main.server.stop())

/** A project of its own with empty notes at these paths. */
async function filled(...paths: string[]): Promise<NotesApi> {
  const notes = await main.project(`Folders ${++projects}`)
  for (const path of paths) {
    const slash = path.lastIndexOf('/')
    await notes.create({ title: path.slice(slash + 1, -'.md'.length), directory: path.slice(0, Math.max(0, slash)) })
  }
  return notes
}

describe('POST /move-directory', () => {
  test('moves everything below, by path, and says what it did', async () => {
    const notes = await filled('a/x.md', 'a/b/y.md', 'a/b/c/z.md', 'ab/no.md', 'no.md')
    const { body } = await notes.moveDirectory('a', 'n/m')
    assert.deepEqual(body, {
      total_files: 3,
      successful_moves: 3,
      failed_moves: 0,
      moved_files: ['n/m/b/c/z.md', 'n/m/b/y.md', 'n/m/x.md'],
      errors: [],
    })
    assert.deepEqual(await notes.paths(), ['ab/no.md', 'n/m/b/c/z.md', 'n/m/b/y.md', 'n/m/x.md', 'no.md'])
  })

  test('counts a folder by its letters and not by a pattern', async () => {
    const notes = await filled('a_b/1.md', 'axb/2.md', 'a/3.md', 'A_B2/4.md')
    assert.deepEqual((await notes.moveDirectory('a_b', 'c')).body.moved_files, ['c/1.md'])
    for (const pattern of ['a%', '_', '%', 'a__', 'C', 'A']) {
      assert.equal((await notes.moveDirectory(pattern, 'n')).body.total_files, 0, pattern)
    }
    for (const pattern of ['a*', 'a?b']) await notes.moveDirectory(pattern, 'n', 400)
    assert.deepEqual(await notes.paths(), ['A_B2/4.md', 'a/3.md', 'axb/2.md', 'c/1.md'])
  })

  test('moves to the root, into itself and out of itself', async () => {
    const notes = await filled('a/x.md', 'a/a/x.md', 'a/a/a/x.md')
    assert.deepEqual((await notes.moveDirectory('a', 'a/a')).body.moved_files, [
      'a/a/a/a/x.md',
      'a/a/a/x.md',
      'a/a/x.md',
    ])
    const up = await notes.moveDirectory('a/a', 'a')
    assert.deepEqual([up.body.failed_moves, up.body.moved_files], [0, ['a/a/a/x.md', 'a/a/x.md', 'a/x.md']])
    const { body } = await notes.moveDirectory('/a/', '/')
    assert.deepEqual([body.failed_moves, body.moved_files], [0, ['a/a/x.md', 'a/x.md', 'x.md']])
    assert.deepEqual(await notes.paths(), ['a/a/x.md', 'a/x.md', 'x.md'])
  })

  test('moves into itself by another spelling, too', async () => {
    const notes = await filled('MyDocs/n.md', 'MyDocs/deep/n.md')
    await notes.moveDirectory('MyDocs', 'my docs/deep', 200, { atomic: true })
    assert.deepEqual(await notes.paths(), ['my docs/deep/deep/n.md', 'my docs/deep/n.md'])
    await notes.moveDirectory('my docs', 'My-Docs/deep', 200, { atomic: true })
    assert.deepEqual(await notes.paths(), ['My-Docs/deep/deep/deep/n.md', 'My-Docs/deep/deep/n.md'])
  })

  test('goes on when a destination is taken, and with atomic moves nothing then', async () => {
    const notes = await filled('s/1.md', 's/2.md', 's/three four.md', 'd/2.md', 'd/Three-Four.md')
    const before = await notes.graph()
    const { body: refused } = await notes.moveDirectory('s', 'd', 400, { atomic: true })
    assert.match(refused.detail, /s\/2\.md.*already exists/)
    assert.deepEqual(await notes.graph(), before)
    const { body } = await notes.moveDirectory('s', 'd')
    assert.deepEqual([body.total_files, body.successful_moves, body.failed_moves], [3, 1, 2])
    assert.deepEqual(body.moved_files, ['d/1.md'])
    assert.deepEqual(
      body.errors.map(({ path }: { path: string }) => path),
      ['s/2.md', 's/three four.md'],
    )
    for (const { error } of body.errors) assert.match(error, /already exists/)
    assert.deepEqual((await notes.moveDirectory('s', 'free', 200, { atomic: true })).body.successful_moves, 2)
  })

  test('a path that would become too long is a failure of that note', async () => {
    const long = ['a'.repeat(200), 'b'.repeat(200)].join('/')
    const notes = await filled('s/short.md', `s/${'c'.repeat(120)}.md`)
    const { body } = await notes.moveDirectory('s', long)
    assert.deepEqual([body.successful_moves, body.failed_moves], [1, 1])
    assert.match(body.errors[0].error, /500/)
  })

  test('keeps ids, permalinks and edges', async () => {
    const notes = await filled('s/Target.md')
    const source = await notes.create({ title: 'Source', directory: 's', content: '[[Target]] [[s/Target]]' })
    await notes.moveDirectory('s', 'elsewhere')
    const moved = await notes.get(source.external_id)
    assert.deepEqual([moved.id, moved.permalink, moved.version], [source.id, source.permalink, source.version + 1])
    assert.deepEqual(
      moved.relations.map(({ to_external_id: to }) => to),
      source.relations.map(({ to_external_id: to }) => to),
    )
  })

  test('nothing below is no failure; a bad folder, the same folder and a bad body are', async () => {
    const notes = await filled('a/x.md')
    const zeros = { total_files: 0, successful_moves: 0, failed_moves: 0, moved_files: [], errors: [] }
    assert.deepEqual((await notes.moveDirectory('empty', 'n')).body, zeros)
    assert.deepEqual((await notes.moveDirectory('a/x.md', 'n')).body, zeros, 'a note is no folder')
    for (const [source, destination] of [
      ['a', 'a'],
      ['a', '/a/'],
      ['a', './a'],
      ['a', '../b'],
      ['../a', 'b'],
      ['a', 'b/../../c'],
      ['~a', 'b'],
      ['a', 'C:\\b'],
      ['a', '\\b'],
      ['a', '.hidden'],
      ['a', 'NUL'],
      ['/', 'b'],
      ['.', 'b'],
      [' ', 'b'],
      ['a', 'b\u0000'],
      ['a', ' '],
      ['a', '🎉'],
      ['a', '???'],
      ['a', '/(!)/'],
    ] as const) {
      const { body } = await notes.moveDirectory(source, destination, 400)
      assert.equal(typeof body.detail, 'string', `${source} ${destination}`)
    }
    const url = `${notes.base}/move-directory`
    for (const body of [
      {},
      { source_directory: 'a' },
      { source_directory: '', destination_directory: 'b' },
      { source_directory: 'a', destination_directory: '' },
      { source_directory: 'a'.repeat(501), destination_directory: 'b' },
      { source_directory: 'a', destination_directory: 'b', atomic: 'yes' },
    ]) {
      assert.ok((await notes.api.post(url, 422, { body })).body.errors.length > 0)
    }
    const body = { source_directory: 'a', destination_directory: 'b' }
    await notes.api.post(`/v2/${NOBODY}/knowledge/move-directory`, 404, { body })
    assert.deepEqual(await notes.paths(), ['a/x.md'])
  })
})

describe('POST /delete-directory', () => {
  test('deletes everything below and says what it did', async () => {
    const notes = await filled('a/x.md', 'a/b/y.md', 'ab/no.md', 'a.md')
    const outside = await notes.create({ title: 'Outside', content: '[[x]] [[a/b/y]]' })
    assert.ok(outside.relations.every(({ to_id: to }) => to !== null))
    const { body } = await notes.deleteDirectory('a')
    assert.deepEqual(body, {
      total_files: 2,
      successful_deletes: 2,
      failed_deletes: 0,
      deleted_files: ['a/b/y.md', 'a/x.md'],
      errors: [],
      file_delete_status: 'complete',
    })
    assert.deepEqual(await notes.paths(), ['Outside.md', 'a.md', 'ab/no.md'])
    assert.deepEqual(
      (await notes.get(outside.external_id)).relations.map(({ to_id, to_name }) => [to_id, to_name]),
      [
        [null, 'x'],
        [null, 'a/b/y'],
      ],
    )
    assert.deepEqual((await notes.deleteDirectory('a')).body.total_files, 0)
  })

  test('counts a folder by its letters, and never takes the whole project', async () => {
    const notes = await filled('a_b/1.md', 'axb/2.md', 'C/3.md', 'd/4.md')
    for (const directory of [
      '/',
      '.',
      './',
      '//',
      ' ',
      '..',
      '../d',
      'd/..',
      'd/../..',
      '/d',
      '~',
      'C:',
      'd\u0000',
      '\\d',
    ]) {
      const { body } = await notes.deleteDirectory(directory, 400)
      assert.equal(typeof body.detail, 'string', directory)
    }
    for (const directory of ['a%b', 'c', 'C++', 'D', 'd/4', 'd/4.md']) {
      assert.equal((await notes.deleteDirectory(directory)).body.total_files, 0, directory)
    }
    assert.deepEqual((await notes.deleteDirectory('a_b/')).body.deleted_files, ['a_b/1.md'])
    assert.deepEqual(await notes.paths(), ['C/3.md', 'axb/2.md', 'd/4.md'])
    for (const body of [{}, { directory: '' }, { directory: 1 }, { directory: 'x'.repeat(501) }]) {
      assert.deepEqual((await notes.api.post(`${notes.base}/delete-directory`, 422, { body })).body.errors[0].loc, [
        'body',
        'directory',
      ])
    }
    await notes.api.post(`/v2/${NOBODY}/knowledge/delete-directory`, 404, { body: { directory: 'a' } })
  })

  test('all of it can be brought back', async () => {
    const notes = await filled('a/x.md', 'a/y.md')
    const before = await notes.graph()
    await notes.deleteDirectory('a')
    for (const { external_id: id } of before.nodes) {
      await notes.api.post(`${notes.base}/trash/${id}/restore`, 200, { body: {} })
    }
    assert.deepEqual(await notes.graph(), before)
  })
})
