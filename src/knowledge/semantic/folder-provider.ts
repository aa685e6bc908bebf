/** A model that the operator has put into a folder, run by a package that the operator has installed beside it. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError } from '../../platform/errors/app-error.ts'
import { CHUNK_FORMAT } from './chunk/chunk-note.ts'
import { inBatches } from './in-batches.ts'
import type { EmbeddingProvider } from './provider.ts'
import { unitVector } from './unit-vector.ts'

const PACKAGE = '@huggingface/transformers'
// On one machine more at a time only makes all of them slower.
const CALLS_AT_ONCE = 1
const MOST_CHARACTERS = 100_000
const MIN_SIMILARITY = 0.3
/** The forms that a model comes in, by their files; the package would look for the first one only. */
const FORMS = [
  ['model.onnx', 'fp32'],
  ['model_fp16.onnx', 'fp16'],
  ['model_quantized.onnx', 'q8'],
  ['model_int8.onnx', 'int8'],
  ['model_uint8.onnx', 'uint8'],
  ['model_q4.onnx', 'q4'],
] as const

/** What we use of the package. */
export interface TransformersPackage {
  env: { allowRemoteModels: boolean; allowLocalModels: boolean; localModelPath: string }
  pipeline(task: 'feature-extraction', model: string, options: { dtype: string }): Promise<Extractor>
}

interface Extractor {
  (texts: string[], options: { pooling: 'mean' | 'cls'; normalize: boolean }): Promise<Tensor>
  dispose?(): Promise<unknown>
}

interface Tensor {
  data: ArrayLike<number>
  dims: readonly number[]
}

export interface FolderOptions {
  folder: string
  batchSize: number
  /** For tests: what would be installed. */
  load?(): Promise<TransformersPackage>
}

export async function openFolderProvider(options: FolderOptions): Promise<EmbeddingProvider> {
  const folder = resolve(options.folder)
  const version = fingerprintOf(folder)
  const transformers = await loaded(folder, options.load ?? (() => installed(folder)))
  transformers.env.allowRemoteModels = false
  transformers.env.allowLocalModels = true
  transformers.env.localModelPath = dirname(folder)
  const extract = await opened(transformers, folder)
  const { pooling, prompts } = configurationOf(folder)
  const who = `The model in ${folder}`

  const embed = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const { data, dims } = await extract([...texts], { pooling, normalize: true }).catch((error: unknown) => {
      throw new AppError('unavailable', `${who} failed: ${(error as Error).message}`, { cause: error })
    })
    const width = dims.at(-1) ?? 0
    if (width === 0 || data.length !== texts.length * width) {
      throw new AppError('unavailable', `${who} gave no vector for each text: it is no model for embeddings`)
    }
    return texts.map((_, at) =>
      unitVector(
        Array.from({ length: width }, (_, n) => Number(data[at * width + n])),
        who,
      ),
    )
  }

  const [sample] = await embed(['dimensions'])
  return {
    model: {
      provider: 'folder',
      name: folderModelName(folder),
      version: `${version}.${CHUNK_FORMAT}`,
      dimensions: (sample as Float32Array).length,
      minSimilarity: MIN_SIMILARITY,
    },
    embed(texts, kind, signal) {
      const prompt = prompts[kind]
      const limit = { texts: options.batchSize, characters: MOST_CHARACTERS, atOnce: CALLS_AT_ONCE }
      return inBatches(texts, limit, (batch) => {
        signal?.throwIfAborted()
        return embed(prompt === '' ? batch : batch.map((text) => prompt + text))
      })
    },
    async [Symbol.asyncDispose]() {
      await extract.dispose?.()
    },
  }
}

export function folderModelName(folder: string): string {
  return basename(resolve(folder))
}

async function loaded(folder: string, load: () => Promise<TransformersPackage>): Promise<TransformersPackage> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code?.endsWith('MODULE_NOT_FOUND') ? '' : `, which cannot be loaded (${message})`
    throw new AppError(
      'unavailable',
      `The embedding provider "folder" needs the package ${PACKAGE}${why}: run "npm install --prefix ${dirname(folder)} ${PACKAGE}", or choose another knowledge.embedding_provider`,
      { cause: error },
    )
  }
}

/** Beside the model, where it outlives an update of the server; else beside the server. */
async function installed(folder: string): Promise<TransformersPackage> {
  const beside = createRequire(join(folder, 'config.json'))
  try {
    beside.resolve(PACKAGE)
  } catch {
    return import(PACKAGE)
  }
  return beside(PACKAGE)
}

async function opened({ pipeline }: TransformersPackage, folder: string): Promise<Extractor> {
  try {
    const [, dtype] = FORMS.find(([file]) => existsSync(join(folder, 'onnx', file))) ?? FORMS[0]
    return await pipeline('feature-extraction', basename(folder), { dtype })
  } catch (error) {
    const message = `The model in ${folder} cannot be read (${(error as Error).message}): correct knowledge.embedding_folder`
    throw new AppError('unavailable', message, { cause: error })
  }
}

/** Names and sizes of its files, and what its configuration says: another one with the same name has another. */
function fingerprintOf(folder: string): string {
  try {
    const hash = createHash('sha256').update(readFileSync(join(folder, 'config.json')))
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const files = entries.map(({ parentPath, name }) => join(parentPath, name)).sort()
    for (const file of files) hash.update(`${file.slice(folder.length)}\n${statSync(file).size}\n`)
    return hash.digest('hex').slice(0, 12)
  } catch (error) {
    const message = `${folder} holds no model (there must be a config.json): correct knowledge.embedding_folder`
    throw new AppError('unavailable', message, { cause: error })
  }
}

/** What sentence encoders say of themselves beside the model; the usual where they do not. */
function configurationOf(folder: string): { pooling: 'mean' | 'cls'; prompts: { query: string; document: string } } {
  const { pooling_mode_cls_token: isCls } = readJson(join(folder, '1_Pooling', 'config.json'))
  const { prompts } = readJson(join(folder, 'config_sentence_transformers.json'))
  const { query, document, passage } = (typeof prompts === 'object' && prompts !== null ? prompts : {}) as Record<
    string,
    unknown
  >
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    pooling: isCls === true ? 'cls' : 'mean',
    prompts: { query: text(query), document: text(document ?? passage) },
  }
}

function readJson(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}
