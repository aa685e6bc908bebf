import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Outbound } from '../../platform/outbound/outbound-request.ts'
import type { KnowledgeSettings } from '../settings.ts'
import { BUILTIN_NAME, openBuiltinProvider } from './builtin/builtin-provider.ts'
import { folderModelName, openFolderProvider } from './folder/folder-provider.ts'
import { isSameButPrompts, openAiModel, openOpenAiProvider } from './openai-provider.ts'
import type { EmbeddingModel, EmbeddingProvider } from './provider.ts'
import type { EmbedThread } from './thread/embed-thread.ts'

export type EmbeddingSettings = Pick<
  KnowledgeSettings,
  | 'semantic_search_enabled'
  | 'embedding_provider'
  | 'embedding_model'
  | 'embedding_dimensions'
  | 'embedding_batch_size'
  | 'embedding_url'
  | 'embedding_api_key'
  | 'embedding_timeout'
  | 'embedding_folder'
  | 'embedding_query_prefix'
  | 'embedding_document_prefix'
  | 'embedding_query_input_type'
  | 'embedding_document_input_type'
>

export interface ProviderDeps {
  clock: Clock
  outbound: Outbound
  thread: EmbedThread
  settings: EmbeddingSettings
  /** Gives up the opening, where that asks somebody. */
  signal?: AbortSignal | undefined
}

/** Whether vectors are made and asked. */
export function isSemantic(settings: EmbeddingSettings): boolean {
  return settings.semantic_search_enabled !== false && settings.embedding_provider !== 'none'
}

/** What the settings ask for. `unavailable` when it does not work; that may be over later. */
export async function openProvider(deps: ProviderDeps): Promise<EmbeddingProvider> {
  const { clock, outbound, thread, settings, signal } = deps
  switch (settings.embedding_provider) {
    case 'builtin':
    case 'local':
      return openBuiltinProvider(thread)
    case 'openai':
      return openOpenAiProvider({
        outbound,
        clock,
        url: settings.embedding_url ?? '',
        apiKey: settings.embedding_api_key,
        batchSize: settings.embedding_batch_size,
        timeoutMs: settings.embedding_timeout,
        signal,
        ...openAiNameOf(settings),
      })
    case 'folder':
      return openFolderProvider({ folder: settings.embedding_folder ?? '', batchSize: settings.embedding_batch_size })
    default:
      throw nothingIsEmbedded()
  }
}

/** A model of which not all may be known before it was opened. */
export interface ConfiguredModel extends Pick<EmbeddingModel, 'provider' | 'name'> {
  version: string | null
  dimensions: number | null
}

/** What the settings say of the model, without opening it. */
export function configuredModel(settings: EmbeddingSettings): ConfiguredModel {
  switch (settings.embedding_provider) {
    case 'builtin':
    case 'local':
      return { provider: 'builtin', name: BUILTIN_NAME, version: null, dimensions: null }
    case 'openai':
      return openAiModel(openAiNameOf(settings))
    case 'folder':
      return {
        provider: 'folder',
        name: folderModelName(settings.embedding_folder ?? ''),
        version: null,
        dimensions: null,
      }
    default:
      throw nothingIsEmbedded()
  }
}

function openAiNameOf(settings: EmbeddingSettings) {
  return {
    model: settings.embedding_model,
    dimensions: settings.embedding_dimensions,
    prompts: { query: settings.embedding_query_prefix, document: settings.embedding_document_prefix },
    inputTypes: { query: settings.embedding_query_input_type, document: settings.embedding_document_input_type },
  }
}

function nothingIsEmbedded(): AppError {
  return new AppError('unavailable', 'Nothing is embedded: knowledge.embedding_provider is "none"')
}

export type ModelName = Pick<EmbeddingModel, 'provider' | 'name' | 'version' | 'dimensions'>

/** A model that was used before, where what the settings still say leads to it; else null. */
export async function reopenProvider(deps: ProviderDeps, model: ModelName): Promise<EmbeddingProvider | null> {
  const { settings } = deps
  const isOpenAi = model.provider === 'openai'
  if (isOpenAi && settings.embedding_url === null) return null
  if (model.provider === 'folder' && settings.embedding_folder === null) return null
  const open = (dimensions: number | null) => {
    const named = isOpenAi && { embedding_model: model.name, embedding_dimensions: dimensions }
    return openProvider({ ...deps, settings: { ...settings, embedding_provider: model.provider, ...named } })
  }
  // Whether they were asked for is not known, and some services refuse to be told how many there should be.
  let provider = await open(null)
  if (isOpenAi && provider.model.dimensions !== model.dimensions) {
    await provider[Symbol.asyncDispose]()
    provider = await open(model.dimensions)
  }
  if (isComparable(provider.model, model)) return provider
  await provider[Symbol.asyncDispose]()
  return null
}

/** Whether questions that one embeds can be compared with vectors of the other. */
export function isComparable(one: ModelName, other: ModelName): boolean {
  return (
    one.provider === other.provider &&
    one.name === other.name &&
    one.dimensions === other.dimensions &&
    (one.provider === 'openai' ? isSameButPrompts(one, other) : one.version === other.version)
  )
}
