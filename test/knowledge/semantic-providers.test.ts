import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { BuiltinModel } from '../../src/knowledge/semantic/builtin/builtin-model.ts'
import { openBuiltinProvider } from '../../src/knowledge/semantic/builtin-provider.ts'
import { openFolderProvider, type TransformersPackage } from '../../src/knowledge/semantic/folder-provider.ts'
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

function modelFolder(files: Record<string, unknown> = {}): string {
  const folder = join(tempDir(), 'small-model')
  for (const [name, value] of Object.entries({ 'config.json': { hidden_size: 4 }, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), JSON.stringify(value))
  }
  return folder
}

interface Asked {
  texts: string[]
  pooling: string
}

/** Stands for the package: vectors that begin with the length of the text. */
function fakePackage(asked: Asked[]): TransformersPackage {
  return {
    env: { allowRemoteModels: true, allowLocalModels: false, localModelPath: '' },
    async pipeline(_task, model) {
      assert.equal(model, 'small-model')
      return async (texts, { pooling }) => {
        asked.push({ texts, pooling })
        return { data: texts.flatMap((text) => [text.length, 1, 1, 1]), dims: [texts.length, 4] }
      }
    },
  }
}

test('a folder says clearly what is missing: the package, or the model', async () => {
  const options = { folder: modelFolder(), batchSize: 2 }
  await assert.rejects(openFolderProvider(options), {
    code: 'unavailable',
    message: /needs the package @huggingface\/transformers: run "npm install --prefix \S+ @huggingface\/transformers"/,
  })
  await assert.rejects(openFolderProvider({ ...options, folder: join(tempDir(), 'nothing') }), {
    code: 'unavailable',
    message: /holds no model .*: correct knowledge\.embedding_folder$/,
  })
})

test('the package is taken from beside the model, in the form that the model has', async () => {
  const folder = modelFolder({ 'onnx/model_quantized.onnx': {} })
  const code = `module.exports = {
    env: {},
    pipeline: async (_task, _model, { dtype }) => async (texts) =>
      ({ data: texts.flatMap(() => [dtype === 'q8' ? 1 : 0, 1]), dims: [texts.length, 2] }),
  }`
  const installed = join(dirname(folder), 'node_modules', '@huggingface', 'transformers')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'index.js'), code)
  await using provider = await openFolderProvider({ folder, batchSize: 2 })
  const [vector] = await provider.embed(['text'], 'document')
  assert.deepEqual(vector, new Float32Array([Math.SQRT1_2, Math.SQRT1_2]))
})

test('a package that is there and cannot be loaded says why', async () => {
  const folder = modelFolder()
  const installed = join(dirname(folder), 'node_modules', '@huggingface', 'transformers')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'index.js'), `throw new Error('libonnxruntime.so.1: no such file')`)
  await assert.rejects(openFolderProvider({ folder, batchSize: 2 }), {
    code: 'unavailable',
    message: /transformers, which cannot be loaded \(libonnxruntime\.so\.1: no such file\): run "npm install/,
  })
})

test('a model folder is asked without the network, as it says it wants to be', async () => {
  const asked: Asked[] = []
  const transformers = fakePackage(asked)
  const folder = modelFolder({
    '1_Pooling/config.json': { pooling_mode_cls_token: true },
    'config_sentence_transformers.json': { prompts: { query: 'query: ', passage: 'passage: ' } },
  })
  await using provider = await openFolderProvider({ folder, batchSize: 2, load: async () => transformers })
  assert.deepEqual([provider.model.name, provider.model.dimensions], ['small-model', 4])
  assert.equal(transformers.env.allowRemoteModels, false)
  asked.length = 0
  const vectors = await provider.embed(['a', 'bb', 'ccc'], 'document')
  assert.deepEqual(asked, [
    { texts: ['passage: a', 'passage: bb'], pooling: 'cls' },
    { texts: ['passage: ccc'], pooling: 'cls' },
  ])
  for (const vector of vectors) assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-6)
  await provider.embed(['q'], 'query')
  assert.deepEqual(asked.at(-1)?.texts, ['query: q'])
})

test('a folder whose files changed is another model', async () => {
  const load = async () => fakePackage([])
  const versions: string[] = []
  for (const config of [{ hidden_size: 4 }, { hidden_size: 4, changed: true }]) {
    await using provider = await openFolderProvider({
      folder: modelFolder({ 'config.json': config }),
      batchSize: 2,
      load,
    })
    versions.push(provider.model.version)
  }
  assert.notEqual(versions[0], versions[1])
})
