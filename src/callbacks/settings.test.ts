import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../test/support/temp-dir.ts'
import { loadSettings } from '../settings.ts'
import { isSigningSecret, policyOf } from './settings.ts'

function load(yaml: string) {
  const cwd = tempDir()
  writeFileSync(join(cwd, 'commonplace.yaml'), yaml)
  return loadSettings({ mode: 'serve', env: {}, cwd })
}

test('a search attribute cannot have the name of a field that every callback has', async () => {
  const yaml =
    'callbacks: { namespaces: { orders: { search_attributes: { RunId: Keyword, Total: Int, CreateTime: Text } } } }'
  await assert.rejects(load(yaml), (error: Error & { problems: { path: string }[] }) => {
    assert.deepEqual(
      error.problems.map(({ path }) => path),
      ['RunId', 'CreateTime'].map((name) => `callbacks.namespaces.orders.search_attributes.${name}`),
    )
    return true
  })
})

test('a search attribute with such a name is told also where other keys are wrong, with one that would do', async () => {
  const yaml =
    'callbacks: { namespaces: { ok: { search_attributes: { ExecutionStatus: Keyword, Total: Much }, retention: soon } } }'
  await assert.rejects(load(yaml), ({ problems }: Error & { problems: { path: string; example: string }[] }) => {
    const paths = problems.map(({ path }) => path.replace('callbacks.namespaces.ok.', ''))
    assert.deepEqual(paths.sort(), ['retention', 'search_attributes.ExecutionStatus', 'search_attributes.Total'])
    const reserved = problems.find(({ path }) => path.endsWith('ExecutionStatus'))
    assert.equal(reserved?.example, 'callbacks: { namespaces: { ok: { search_attributes: { CustomerId: Keyword } } } }')
    return true
  })
})

test('overrides lie over what the settings say for a namespace, which lies over the server', async () => {
  const { settings } = await load('callbacks: { namespaces: { orders: { retention: 7d, retry: { jitter: 0 } } } }')
  const policy = policyOf(settings.callbacks, 'orders', { retry: { coefficient: 3 }, denied_ports: [] })
  assert.deepEqual([policy.retention, policy.denied_ports], [604_800_000, []])
  assert.deepEqual(policy.retry, { ...settings.callbacks.retry, jitter: 0, coefficient: 3 })
})

test('a signing secret is the prefix and exact base64 of 24 to 64 bytes', () => {
  for (const length of [24, 32, 64]) assert.ok(isSigningSecret(`whsec_${Buffer.alloc(length, 7).toString('base64')}`))
  for (const length of [0, 23, 65, 5_000]) {
    assert.ok(!isSigningSecret(`whsec_${Buffer.alloc(length, 7).toString('base64')}`))
  }
  for (const text of ['', 'whsec_', Buffer.alloc(24).toString('base64'), `whsec_${'_'.repeat(32)}`]) {
    assert.ok(!isSigningSecret(text))
  }
})
