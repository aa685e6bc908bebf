import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { BuiltinModel } from '../../src/knowledge/semantic/builtin/builtin-model.ts'
import { openBuiltinProvider } from '../../src/knowledge/semantic/builtin/builtin-provider.ts'
import { configuredModel, openProvider } from '../../src/knowledge/semantic/open-provider.ts'
import { embedNotes } from '../../src/knowledge/semantic/sync/embed-notes.ts'
import { EmbedThread } from '../../src/knowledge/semantic/thread/embed-thread.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { OutboundClient } from '../../src/platform/outbound/outbound-client.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { BUILTIN } from './semantic-world.ts'

test('the built-in model embeds in a thread what it embeds here', async () => {
  await using thread = new EmbedThread({ clock: new SystemClock() })
  await using provider = openBuiltinProvider(thread)
  const model = BuiltinModel.load()
  assert.equal(provider.model.dimensions, model.dimensions)
  assert.ok(provider.model.version.startsWith(model.version))
  const texts = Array.from({ length: 300 }, (_, n) => `text number ${n} about coffee`)
  assert.deepEqual(await provider.embed(texts, 'document'), model.embed(texts))
  assert.deepEqual(await provider.embed([], 'query'), [])
})

test('the built-in model goes by two names', async () => {
  await using thread = new EmbedThread({ clock: new SystemClock() })
  const outbound = {} as OutboundClient // it asks nobody
  for (const embedding_provider of ['builtin', 'local'] as const) {
    const settings = { ...BUILTIN, embedding_provider }
    await using provider = await openProvider({ thread, clock: new SystemClock(), outbound, settings })
    const { name, version } = openBuiltinProvider(thread).model
    assert.deepEqual([provider.model.name, provider.model.version], [name, version])
    assert.equal(configuredModel(settings).provider, 'builtin')
  }
})

test('a built-in model that is missing or damaged is unavailable, and says what to do', async () => {
  await using thread = new EmbedThread({ clock: new SystemClock() })
  const file = join(tempDir(), 'model.bin')
  const open = () => openBuiltinProvider(thread, file)
  assert.throws(open, { code: 'unavailable', message: /cannot be read \(ENOENT.* install the server again/ })
  writeFileSync(file, 'CPTOK')
  assert.throws(open, { code: 'unavailable', message: /is no model file; install the server again/ })
})

test('a thread that was not needed for a while is ended, and the next question starts another', async () => {
  const clock = new FakeClock()
  await using thread = new EmbedThread({ clock })
  const first = await thread.embed(['one'])
  await clock.advance(3_600_000)
  assert.deepEqual(await thread.embed(['one']), first)
})

test('after the end nothing is embedded any more', async () => {
  const thread = new EmbedThread({ clock: new SystemClock() })
  await thread[Symbol.asyncDispose]()
  await assert.rejects(thread.embed(['one']), /stopping/)
})

test('a note that cannot be read into chunks does not keep others from it, and keeps nothing old', async () => {
  await using thread = new EmbedThread({ clock: new SystemClock() })
  await using provider = openBuiltinProvider(thread)
  const stored = [{ id: 7, kind: 0, position: 0, number: 0, start: 0, end: 4, hash: 'old' }]
  const work = (noteId: number, created_at: number) => {
    return { noteId, note: { title: 'A', created_at }, content: 'text', stored, isForced: false }
  }
  const works = [work(1, 0), work(2, Number.NaN), work(3, 0)]
  const embedded = await embedNotes({ provider, thread }, works)
  assert.deepEqual(
    embedded.map(({ plan, vectors }) => [plan.noteId, plan.removed, vectors.length]),
    [
      [1, [7], 1],
      [2, [7], 0],
      [3, [7], 1],
    ],
  )
  assert.match(embedded[1]?.refusal ?? '', /^The text could not be embedded: /)
})
