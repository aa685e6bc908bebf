import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { startServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'

for (const engine of ['sqlite', 'postgres'] as const) {
  const skip = engine === 'postgres' && postgresUnavailable() !== null
  describe(`callbacks to a domain that administrators forbid (${engine})`, { skip }, () => {
    test('are accepted and BLOCKED with the reason, and go on when the block is lifted', async () => {
      await using receiver = await startReceiver()
      await using server = await startServer({ engine })
      const admin = client(server)
      const { body: block } = await admin.post('/api/v1/admin/domain_blocks', 200, {
        body: { domain: 'localhost', severity: 'suspend', private_comment: 'for our eyes only' },
      })
      const url = `http://localhost:${receiver.port}/`
      const start = { identity: 'test', callback: { nexus: { url } }, completion: { success: 1 } }
      await admin.post('/namespaces/default/callbacks/held', 200, { body: start })
      const { body: held, text } = await admin.get('/namespaces/default/callbacks/held', 200)
      assert.equal(held.info.state, 'CALLBACK_STATE_BLOCKED')
      assert.match(held.info.blockedReason, /localhost/)
      assert.ok(!text.includes('for our eyes only'))
      const tests = '/namespaces/default/callback-tests'
      const { body: refused, text: refusal } = await admin.post(tests, 400, { body: { callback: start.callback } })
      assert.equal(refused.code, 9)
      assert.match(refused.message, /localhost/)
      assert.ok(!refusal.includes('for our eyes only'))
      assert.equal(receiver.requests.all.length, 0)
      await admin.delete(`/api/v1/admin/domain_blocks/${block.id}`, 200)
      const { body: polled } = await admin.get('/namespaces/default/callbacks/held/outcome', 200)
      assert.deepEqual(polled.outcome, { success: {} })
      assert.equal(receiver.requests.all.length, 1)
    })

    test('in whitelist mode go to allowed domains only', async () => {
      await using receiver = await startReceiver()
      await using server = await startServer({ engine })
      const admin = client(server)
      await admin.patch('/api/v1/admin/instance', 200, { body: { whitelist_mode: true } })
      const url = `http://localhost:${receiver.port}/`
      const start = { identity: 'test', callback: { nexus: { url } }, completion: { success: 1 } }
      await admin.post('/namespaces/default/callbacks/held', 200, { body: start })
      const { body: held } = await admin.get('/namespaces/default/callbacks/held', 200)
      assert.equal(held.info.state, 'CALLBACK_STATE_BLOCKED')
      await admin.post('/namespaces/default/callback-tests', 400, { body: { callback: start.callback } })
      assert.equal(receiver.requests.all.length, 0)
      await admin.post('/api/v1/admin/domain_allows', 200, { body: { domain: 'localhost' } })
      const { body: polled } = await admin.get('/namespaces/default/callbacks/held/outcome', 200)
      assert.deepEqual(polled.outcome, { success: {} })
    })
  })
}
