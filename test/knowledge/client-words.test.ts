import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { NOBODY, NotesApi } from './notes-api.ts'

/**
 * Published clients of the API this one is modelled on tell failures apart by words in `detail`, and go on differently
 * for each: they ask the project they have when an address begins with none, or tell an agent what to try next.
 */
let notes: NotesApi
let noteId: string
before(async () => {
  notes = await NotesApi.start({ env: { COMMONPLACE_KNOWLEDGE__SEMANTIC_SEARCH_ENABLED: 'false' } })
  const content = '# Tea\n\n## Steps\ntea, tea\n\n## Steps\nagain'
  noteId = (await notes.create({ title: 'Tea', directory: 'drinks', content })).external_id
  await notes.create({ title: 'Cake', directory: 'sweets' })
})
after(() => notes.server.stop())

async function detail(method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, status: number, body?: unknown) {
  const options = body === undefined ? {} : { body }
  return String((await notes.api.call(method, path, status, options)).body.detail)
}

describe('words that clients look for', () => {
  test('a project that is not there: "project not found"', async () => {
    const unknown = await detail('POST', '/v2/projects/resolve', 404, { identifier: 'drinks' })
    assert.match(unknown, /^Project not found: .*'drinks'/)
    for (const path of [`/v2/projects/${NOBODY}`, `/v2/projects/${NOBODY}/knowledge/graph`]) {
      assert.match(await detail('GET', path, 404), new RegExp(`^Project not found: .*'${NOBODY}'`))
    }
  })

  test('a note that is not there: "Entity not found", or "not found"', async () => {
    const { base } = notes
    assert.match(await detail('POST', `${base}/resolve`, 404, { identifier: 'Mate' }), /^Entity not found .*'Mate'/)
    assert.match(await detail('GET', `${base}/entities/${NOBODY}`, 404), /external_id.*not found/)
  })

  test('a note that is there already: "already exists"', async () => {
    const { base } = notes
    const again = { title: 'Tea', directory: 'drinks' }
    assert.match(await detail('POST', `${base}/entities`, 409, again), /already exists/)
    assert.match(await detail('POST', `${base}/entities`, 409, { title: 'tea', directory: 'Drinks' }), /already exists/)
    const move = `${base}/entities/${noteId}/move`
    assert.match(await detail('PUT', move, 400, { destination_path: 'sweets/Cake.md' }), /already exists/)
    assert.match(await detail('PUT', move, 400, { destination_path: '.x/Cake.md' }), /Invalid destination path/)
  })

  test('an edit that cannot be made: what it is about, and how often the text was found', async () => {
    const edit = (body: object) => detail('PATCH', `${notes.base}/entities/${noteId}`, 400, { content: 'x', ...body })
    const replace = { operation: 'find_replace', find_text: 'tea' }
    assert.match(await edit({ ...replace, find_text: 'mate' }), /^Text to replace not found: "mate"/)
    // Once "occurrences" is enough for them, whichever of the two numbers is 1.
    assert.match(await edit(replace), /^Expected 1 occurrence of "tea", found 3 occurrences/)
    const once = { ...replace, find_text: 'again', expected_replacements: 2 }
    assert.match(await edit(once), /^Expected 2 occurrences of "again", found 1 occurrence /)
    assert.match(await edit({ operation: 'replace_section', section: '## Steps' }), /^Multiple sections/)
    assert.match(await edit({ operation: 'insert_after_section', section: '## Mate' }), /not found/)
  })

  test('a search that there is not: "semantic search is disabled"', async () => {
    const search = `/v2/projects/${notes.projectId}/search/`
    for (const mode of ['vector', 'hybrid']) {
      assert.match(
        await detail('POST', search, 400, { text: 'tea', retrieval_mode: mode }),
        /^Semantic search is disabled/,
      )
    }
  })
})
