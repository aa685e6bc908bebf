/** A model that the operator has put into a folder, run by a package that the operator has installed beside it. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { EmbeddingKind } from '../provider.ts'

const PACKAGE = '@huggingface/transformers'

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
interface TransformersPackage {
  env: { allowRemoteModels: boolean; allowLocalModels: boolean; localModelPath: string }
  pipeline(task: 'feature-extraction', model: string, options: { dtype: string }): Promise<Extractor>
}

type Extractor = (texts: string[], options: { pooling: 'mean' | 'cls'; normalize: boolean }) => Promise<Tensor>

interface Tensor {
  data: ArrayLike<number>
  dims: readonly number[]
}

export interface FolderModel {
  /** The vectors of all texts, one after the other. */
  embed(texts: readonly string[], kind: EmbeddingKind): Promise<Float32Array<ArrayBuffer>>
}

/** It is these texts that the model fails at, as far as it knows. */
export class TextsFailed extends Error {}

/** Throws an error whose message is a sentence for the operator. */
export async function openFolderModel(folder: string): Promise<FolderModel> {
  const { env, pipeline } = await loaded(folder)
  env.allowRemoteModels = false
  env.allowLocalModels = true
  env.localModelPath = dirname(folder)
  const extract = await opened(pipeline, folder)
  const { pooling, prompts } = configurationOf(folder)
  const who = `The model in ${folder}`
  return {
    async embed(texts, kind) {
      const asked = texts.map((text) => prompts[kind] + text)
      const { data, dims } = await extract(asked, { pooling, normalize: true }).catch((error: unknown) => {
        throw new TextsFailed(`${who} failed: ${(error as Error).message}`, { cause: error })
      })
      const width = dims.at(-1) ?? 0
      if (width === 0 || data.length !== texts.length * width) {
        throw new Error(`${who} gave no vector for each text: it is no model for embeddings`)
      }
      return Float32Array.from(data)
    },
  }
}

async function loaded(folder: string): Promise<TransformersPackage> {
  try {
    return await installed(folder)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code?.endsWith('MODULE_NOT_FOUND') ? '' : `, which cannot be loaded (${message})`
    throw new Error(
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

async function opened(pipeline: TransformersPackage['pipeline'], folder: string): Promise<Extractor> {
  try {
    const [, dtype] = FORMS.find(([file]) => existsSync(join(folder, 'onnx', file))) ?? FORMS[0]
    return await pipeline('feature-extraction', basename(folder), { dtype })
  } catch (error) {
    const message = `The model in ${folder} cannot be read (${(error as Error).message}): correct knowledge.embedding_folder`
    throw new Error(message, { cause: error })
  }
}

/** What sentence encoders say of themselves beside the model; the usual where they do not. */
function configurationOf(folder: string): { pooling: 'mean' | 'cls'; prompts: Record<EmbeddingKind, string> } {
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
