import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_PRIVACY_POLICY } from '../../src/instance/documents/default-privacy-policy.ts'
import { isWritten, readDocument, readInstalledAt } from '../../src/instance/documents/store-documents.ts'
import { eachDatabase } from '../support/each-database.ts'
import { adminWorld, auditOf, refusal } from './admin-world.ts'

eachDatabase('documents of the instance', ({ open }) => {
  test('before anybody writes them: nothing, since the installation, and the shipped policy', async () => {
    const db = await open()
    const { documents, operator } = await adminWorld(db)
    const description = await documents.get(operator, { kind: 'extended_description' })
    assert.deepEqual(description, { text: '', content: '', updatedAt: await readInstalledAt(db) })
    const policy = await documents.get(operator, { kind: 'privacy_policy' })
    assert.equal(policy.updatedAt, DEFAULT_PRIVACY_POLICY.updatedAt)
    assert.match(policy.content, /^<p>This page describes what the software that runs kb\.example\.org stores/)
    assert.ok(!policy.content.includes('%{domain}'))
    assert.equal(await readDocument(db, 'privacy_policy'), null)
  })

  test('are kept as they were written and shown as HTML, with the name of the server', async () => {
    const db = await open()
    const { documents, operator, settings, clock } = await adminWorld(db)
    const before = clock.now()
    await clock.advance(1_000)
    const text = '# About %{domain}\n\n<script>x</script> 🗒'
    const written = await documents.put(operator, { kind: 'extended_description', text })
    assert.equal(written.content, '<h1>About kb.example.org</h1>\n<p>&lt;script&gt;x&lt;/script&gt; 🗒</p>')
    assert.ok(written.updatedAt > before)
    await settings.patch(operator, { domain: 'notes.example.net' })
    const shown = await documents.get(operator, { kind: 'extended_description' })
    assert.equal(shown.text, text)
    assert.match(shown.content, /About notes\.example\.net/)
    assert.equal(await readDocument(db, 'privacy_policy'), null)
  })

  test('an empty text returns to the default', async () => {
    const db = await open()
    const { documents, operator } = await adminWorld(db)
    for (const kind of ['extended_description', 'privacy_policy'] as const) {
      const before = await documents.get(operator, { kind })
      await documents.put(operator, { kind, text: 'Own words' })
      assert.deepEqual(await documents.put(operator, { kind, text: ' \n' }), before)
      assert.equal(isWritten(await readDocument(db, kind)), false)
    }
  })

  test('writing the same text again changes nothing; everything else is in the log', async () => {
    const db = await open()
    const { documents, operator } = await adminWorld(db)
    const kind = 'privacy_policy'
    const first = await documents.put(operator, { kind, text: 'A' })
    assert.deepEqual(await documents.put(operator, { kind, text: 'A' }), first)
    await documents.put(operator, { kind, text: '' })
    const events = await auditOf(db, 'instance_documents')
    assert.deepEqual(
      events.map(({ target_id: id, changes }) => [id, changes.text]),
      [
        [kind, { old: '', new: 'A' }],
        [kind, { old: 'A', new: '' }],
      ],
    )
  })

  test('a text that is too long or holds control characters is refused', async () => {
    const { documents, operator } = await adminWorld(await open())
    const put = (text: string) => documents.put(operator, { kind: 'privacy_policy', text })
    assert.deepEqual(await refusal(put('x'.repeat(100_001))), { text: 'ERR_TOO_LONG' })
    assert.deepEqual(await refusal(put('a\u0000b')), { text: 'ERR_INVALID' })
    assert.deepEqual(await refusal(put('\ud800')), { text: 'ERR_INVALID' })
    assert.equal((await put('🗒'.repeat(100_000))).text.length, 200_000)
  })
})
