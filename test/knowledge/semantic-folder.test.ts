import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openFolderProvider } from '../../src/knowledge/semantic/folder/folder-provider.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { createNote, openNotes, RunningSync, storedVectors } from './semantic-world.ts'

/**
 * A package as it would be installed. Its vectors tell how it was asked: how long the text is, whether by the first token, how many
 * texts came with it, whether it may use the network, and whether the model is the one in eight bits.
 */
const PACKAGE = `
const env = { allowRemoteModels: true }
exports.env = env
exports.pipeline = async (task, model, { dtype }) => {
  if (task !== 'feature-extraction' || model !== 'small-model') throw new Error('nothing to run ' + task + ' by ' + model)
  return async (texts, { pooling }) => {
    if (texts.some((text) => text.includes('refused'))) throw new Error('it does not like that')
    const told = (text) => [text.length, pooling === 'cls' ? 1 : 0, texts.length, env.allowRemoteModels ? 1 : 0, dtype === 'q8' ? 1 : 0, 1]
    return { data: texts.flatMap(told), dims: [texts.length, 6] }
  }
}`

interface Told {
  length: number
  isCls: boolean
  together: number
  mayUseNetwork: boolean
  isEightBits: boolean
}

function toldBy(vector: Float32Array): Told {
  const last = vector[5] as number
  const [length = 0, isCls, together = 0, mayUseNetwork, isEightBits] = [...vector].map((value) =>
    Math.round(value / last),
  )
  return { length, isCls: isCls === 1, together, mayUseNetwork: mayUseNetwork === 1, isEightBits: isEightBits === 1 }
}

function modelFolder(files: Record<string, unknown> = {}, code: string | null = PACKAGE): string {
  const folder = join(tempDir(), 'small-model')
  for (const [name, value] of Object.entries({ 'config.json': { hidden_size: 6 }, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), JSON.stringify(value))
  }
  if (code === null) return folder
  const installed = join(dirname(folder), 'node_modules', '@huggingface', 'transformers')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'index.js'), code)
  return folder
}

test('a folder says clearly what is missing: the package, or the model', async () => {
  const folder = modelFolder({}, null)
  await assert.rejects(openFolderProvider({ folder, batchSize: 2 }), {
    code: 'unavailable',
    message: `The embedding provider "folder" needs the package @huggingface/transformers: run "npm install --prefix ${dirname(folder)} @huggingface/transformers", or choose another knowledge.embedding_provider`,
  })
  await assert.rejects(openFolderProvider({ folder: join(tempDir(), 'nothing'), batchSize: 2 }), {
    code: 'unavailable',
    message: /holds no model .*: correct knowledge\.embedding_folder$/,
  })
})

test('a package that cannot be loaded, and a model that cannot be read, say why', async () => {
  const broken = modelFolder({}, `throw new Error('libonnxruntime.so.1: no such file')`)
  await assert.rejects(openFolderProvider({ folder: broken, batchSize: 2 }), {
    code: 'unavailable',
    message: /transformers, which cannot be loaded \(libonnxruntime\.so\.1: no such file\): run "npm install --prefix/,
  })
  const unreadable = modelFolder({}, `exports.env = {}; exports.pipeline = async () => { throw new Error('no onnx') }`)
  await assert.rejects(openFolderProvider({ folder: unreadable, batchSize: 2 }), {
    code: 'unavailable',
    message: /^The model in \S+ cannot be read \(no onnx\): correct knowledge\.embedding_folder$/,
  })
  const shapeless = `exports.env = {}; exports.pipeline = async () => async () => ({ data: [1], dims: [1, 1, 7] })`
  await assert.rejects(openFolderProvider({ folder: modelFolder({}, shapeless), batchSize: 2 }), {
    code: 'unavailable',
    message: /gave no vector for each text: it is no model for embeddings$/,
  })
})

test('a model folder is asked without the network, as it says it wants to be', async () => {
  const folder = modelFolder({
    '1_Pooling/config.json': { pooling_mode_cls_token: true },
    'config_sentence_transformers.json': { prompts: { query: 'query: ', passage: 'passage: ' } },
  })
  await using provider = await openFolderProvider({ folder, batchSize: 2 })
  assert.deepEqual([provider.model.name, provider.model.dimensions], ['small-model', 6])
  const vectors = await provider.embed(['a', 'bb', 'ccc'], 'document')
  const asked = { isCls: true, mayUseNetwork: false, isEightBits: false }
  assert.deepEqual(vectors.map(toldBy), [
    { ...asked, length: 'passage: a'.length, together: 2 },
    { ...asked, length: 'passage: bb'.length, together: 2 },
    { ...asked, length: 'passage: ccc'.length, together: 1 },
  ])
  for (const vector of vectors) assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-6)
  const questions = await provider.embed(['q'], 'query')
  assert.deepEqual(questions.map(toldBy), [{ ...asked, length: 'query: q'.length, together: 1 }])
  assert.deepEqual(await provider.embed([], 'document'), [])
})

test('a model that comes in eight bits only is read in them', async () => {
  await using provider = await openFolderProvider({
    folder: modelFolder({ 'onnx/model_quantized.onnx': {} }),
    batchSize: 2,
  })
  const [vector = new Float32Array(6)] = await provider.embed(['text'], 'document')
  assert.equal(toldBy(vector).isEightBits, true)
})

test('texts that a model fails at make the call fail, and the next one is answered', async () => {
  await using provider = await openFolderProvider({ folder: modelFolder(), batchSize: 8 })
  await assert.rejects(provider.embed(['fine', 'refused'], 'document'), {
    code: 'unavailable',
    message: /^The model in \S+ failed: it does not like that$/,
  })
  assert.equal((await provider.embed(['fine'], 'document')).length, 1)
})

test('a question is embedded before the rest of a long batch, and the server goes on meanwhile', async () => {
  // Keeps its thread busy, as real models do: a text takes a hundredth of a second.
  const busy = PACKAGE.replace(
    'const told',
    'for (const end = Date.now() + 10 * texts.length; Date.now() < end; );\n    const told',
  )
  await using provider = await openFolderProvider({ folder: modelFolder({}, busy), batchSize: 200 })
  const order: string[] = []
  const texts = Array.from({ length: 100 }, (_, n) => `text ${n}`)
  let turns = 0
  const counting = setInterval(() => turns++, 1)
  const documents = provider.embed(texts, 'document').then((vectors) => order.push(`${vectors.length} documents`))
  const question = provider.embed(['question'], 'query').then(() => order.push('question'))
  await Promise.all([documents, question])
  clearInterval(counting)
  assert.deepEqual(order, ['question', '100 documents'])
  assert.ok(turns > 20, `${turns} turns in about a second`)
})

const DYING = PACKAGE.replace(
  'if (texts.some',
  `if (texts.some((text) => text.includes('last'))) process.exit(1)\n    if (texts.some`,
)

test('a thread that ended is started again', async () => {
  await using provider = await openFolderProvider({ folder: modelFolder({}, DYING), batchSize: 2 })
  await assert.rejects(provider.embed(['last'], 'document'), { code: 'unavailable', message: /^The thread .* ended$/ })
  assert.equal((await provider.embed(['fine'], 'document')).length, 1)
})

test('a folder whose files changed is another model, and packages beside it are no files of it', async () => {
  const versions: string[] = []
  for (const files of [
    {},
    { 'node_modules/other/index.js': 1 },
    { 'config.json': { hidden_size: 6, changed: true } },
  ]) {
    await using provider = await openFolderProvider({ folder: modelFolder(files), batchSize: 2 })
    versions.push(provider.model.version)
  }
  assert.equal(versions[0], versions[1])
  assert.notEqual(versions[0], versions[2])
})

eachDatabase('notes that a model folder fails at', ({ open }) => {
  test('they are put aside, also where the thread ends of them; the others have their vectors', async () => {
    const world = await openNotes(await open())
    for (const [title, text] of [
      ['Refused', 'refused'],
      ['Last', 'last'],
      ['A', 'a text'],
      ['B', 'other text'],
    ] as const) {
      await createNote(world, title, text)
    }
    const settings = { embedding_provider: 'folder' as const, embedding_folder: modelFolder({}, DYING) }
    await using running = new RunningSync(world.deps.db, settings, { sync: new FakeClock() })
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual((await storedVectors(world)).map(({ note }) => note).sort(), ['A', 'B'])
    const { pending, problem } = await running.sync.status(world.project)
    assert.deepEqual({ pending, problem }, { pending: 2, problem: null })
  })
})
