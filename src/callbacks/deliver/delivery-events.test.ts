import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../../test/support/silent-logger.ts'
import { createMetrics } from '../../platform/telemetry/metrics.ts'
import type { Attempted } from './attempter.ts'
import { DeliveryEvents } from './delivery-events.ts'
import type { Lane } from './lane.ts'

const SUCCESS = { log: { startedAt: 0, endedAt: 1 }, verdict: { label: 'success' } } as Attempted

test('attempts of ever new destinations and namespaces are counted together, and none is left out', async () => {
  const metrics = createMetrics({ process: false })
  const options = { log: silentLogger(), metrics, watch: { notify() {} }, namespaces: { findById: async () => null } }
  const events = new DeliveryEvents(options as unknown as ConstructorParameters<typeof DeliveryEvents>[0])
  const attempt = (namespace: string, destination: string) =>
    events.attempted({ namespace, destination } as Lane, SUCCESS, null)
  for (let n = 0; n < 1_000; n++) attempt('default', `http://d${n}.example.org`)
  for (let n = 0; n < 3_000; n++) attempt(`made-for-a-test-${n}`, 'http://x.example.org')
  attempt('default', 'http://d7.example.org')

  const { text } = await metrics.render()
  const lines = text.split('\n').filter((line) => line.startsWith('callback_outbound_requests{'))
  assert.equal(lines.length, 2_001)
  assert.equal(
    lines.map((line) => Number(line.split(' ').at(-1))).reduce((sum, count) => sum + count, 0),
    4_001,
  )
  assert.ok(lines.includes('callback_outbound_requests{namespace="other",destination="other",outcome="success"} 2000'))
  const known =
    'callback_outbound_requests{namespace="default",destination="http://d7.example.org",outcome="success"} 2'
  assert.ok(lines.includes(known))
})
