import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../../test/support/fake-clock.ts'
import { silentLogger } from '../../../../test/support/silent-logger.ts'
import { type EmbeddingProvider, TextRefused } from '../../semantic/provider.ts'
import type { Semantic } from '../../semantic/semantic.ts'
import { QuestionVectors } from './question-vectors.ts'

type Embed = (text: string) => Promise<Float32Array[]>

function vectorsOf(clock: FakeClock, embed: Embed, serves?: Semantic['serving']) {
  const asked: string[] = []
  const provider: EmbeddingProvider = {
    model: { provider: 'openai', name: 'test', version: '1', dimensions: 2, minSimilarity: 0 },
    embed([text = '']) {
      asked.push(text)
      return embed(text)
    },
    async [Symbol.asyncDispose]() {},
  }
  const serving = serves ?? (async (projectId: number) => ({ modelId: projectId, provider }))
  return { asked, provider, vectors: new QuestionVectors({ clock, log: silentLogger(), semantic: { serving } }) }
}

const works: Embed = async () => [new Float32Array([1, 0])]

test('a question is embedded once for each model, as long as it is among the latest', async () => {
  const { asked, vectors } = vectorsOf(new FakeClock(), works)
  for (const question of ['a', 'b', 'a']) assert.equal((await vectors.vectorOf(1, question))?.modelId, 1)
  await vectors.vectorOf(2, 'a')
  assert.deepEqual(asked, ['a', 'b', 'a'])
  for (let number = 0; number < 300; number++) await vectors.vectorOf(1, `question ${number}`)
  await vectors.vectorOf(1, 'a')
  assert.equal(asked.at(-1), 'a')
})

test('a provider that fails is left alone for a while, then asked again', async () => {
  const clock = new FakeClock()
  let isDown = true
  const { asked, vectors } = vectorsOf(clock, async (text) => {
    if (isDown) throw new Error('down')
    return works(text)
  })
  assert.equal(await vectors.vectorOf(1, 'a'), null)
  assert.equal(await vectors.vectorOf(1, 'a'), null)
  assert.equal(asked.length, 1)
  isDown = false
  await clock.advance(5_000)
  assert.deepEqual((await vectors.vectorOf(1, 'a'))?.vector, new Float32Array([1, 0]))
})

test('a provider that fails takes the meaning from nobody who has another one', async () => {
  const clock = new FakeClock()
  const { provider: down } = vectorsOf(clock, async () => Promise.reject(new Error('down')))
  const { provider: up } = vectorsOf(clock, works)
  const { vectors } = vectorsOf(clock, works, async (projectId) => {
    if (projectId === 3) throw new Error('none')
    return { modelId: projectId, provider: projectId === 1 ? down : up }
  })
  for (const projectId of [1, 3]) assert.equal(await vectors.vectorOf(projectId, 'a'), null)
  assert.deepEqual((await vectors.vectorOf(2, 'a'))?.vector, new Float32Array([1, 0]))
})

test('a question that the provider refuses takes the meaning from no other question', async () => {
  const { vectors } = vectorsOf(new FakeClock(), async (text) => {
    if (text === 'hostile') throw new TextRefused('too long')
    return works(text)
  })
  assert.equal(await vectors.vectorOf(1, 'hostile'), null)
  assert.deepEqual((await vectors.vectorOf(1, 'a'))?.vector, new Float32Array([1, 0]))
})

test('a provider that does not answer in time is not waited for', async () => {
  const clock = new FakeClock()
  const { vectors } = vectorsOf(clock, () => new Promise(() => {}))
  const waiting = vectors.vectorOf(1, 'a')
  await clock.advance(5_000)
  assert.equal(await waiting, null)
})

test('an answer of other dimensions, or of what is no number, is none', async () => {
  for (const wrong of [[], [new Float32Array(3)], [new Float32Array([1, Number.NaN])]]) {
    assert.equal(await vectorsOf(new FakeClock(), async () => wrong).vectors.vectorOf(1, 'a'), null)
  }
})
