import type { Static } from 'typebox'
import { SERVICE_KEY, WEB_URL } from '../platform/config/formats.ts'
import {
  autoOrFlag,
  bytes,
  choice,
  duration,
  flag,
  group,
  integer,
  number,
  orNull,
  path,
  text,
} from '../platform/config/keys.ts'

export const knowledgeSettings = group(
  {
    semantic_search_enabled: autoOrFlag({
      description: 'Search by meaning; `auto` uses it whenever the embedding provider works.',
      default: 'auto',
    }),
    default_search_type: choice(['auto', 'text', 'vector', 'hybrid'], {
      description:
        'What a search that names no type does; with `auto` tools take `hybrid` where there is semantic search, the API takes `text`.',
      default: 'auto',
    }),
    embedding_provider: choice(['builtin', 'local', 'openai', 'folder', 'none'], {
      description:
        'Where embeddings come from: our own model (`local` is `builtin`), an OpenAI-compatible address, a model folder, nowhere.',
      default: 'builtin',
    }),
    embedding_model: orNull(
      text({
        description: 'Model to ask the `openai` provider for; null is its own. Other providers have one model.',
        example: 'text-embedding-3-small',
        maxLength: 200,
      }),
    ),
    embedding_dimensions: orNull(
      integer({
        description: 'Length of a vector to ask the `openai` provider for; null is what the model gives.',
        example: 384,
        min: 8,
        max: 8192,
      }),
    ),
    embedding_batch_size: integer({ description: 'Texts embedded in one call.', default: 32, min: 1, max: 2048 }),
    embedding_url: orNull(
      text({
        ...WEB_URL,
        description: 'Address of the `openai` provider.',
        example: 'https://api.example.org/v1',
        // Some services take their key in it.
        secret: 'url',
      }),
    ),
    embedding_api_key: orNull(
      text({
        ...SERVICE_KEY,
        description: 'Key for the `openai` provider.',
        example: 'a-key-from-the-provider',
        secret: 'all',
      }),
    ),
    embedding_timeout: duration({
      description: 'How long one call of the `openai` provider may take.',
      default: '30s',
      min: '100ms',
      max: '1h',
    }),
    embedding_folder: orNull(
      path({ description: 'Model folder of the `folder` provider.', example: './models/small' }),
    ),
    embedding_query_prefix: text({
      description: 'Put before each question that the `openai` provider embeds.',
      default: '',
      example: 'query: ',
      multiline: true,
    }),
    embedding_document_prefix: text({
      description:
        'Put before each text of a note that the `openai` provider embeds; another one embeds all notes anew.',
      default: '',
      example: 'passage: ',
      multiline: true,
    }),
    embedding_query_input_type: orNull(
      text({
        description: 'Sent to the `openai` provider as `input_type` with questions; null sends none.',
        example: 'search_query',
        maxLength: 200,
      }),
    ),
    embedding_document_input_type: orNull(
      text({
        description:
          'Sent to the `openai` provider as `input_type` with texts of notes; another one embeds all notes anew.',
        example: 'search_document',
        maxLength: 200,
      }),
    ),
    vector_k: integer({
      description:
        'Passages that a search by meaning compares at least. It compares 500 in any case, and more for pages further on.',
      default: 100,
      min: 1,
      max: 10_000,
    }),
    min_similarity: orNull(
      number({
        description: "Least similarity of a hit; null is the model's own measured value.",
        example: 0.55,
        min: 0,
        max: 1,
      }),
    ),
    hybrid_fusion: choice(['weighted', 'rrf'], {
      description:
        'How `hybrid` puts what words and meaning find in one order: `weighted` by what each says of a hit and a closer look at the best, `rrf` by the places in both lists alone (reciprocal rank fusion, k = 60).',
      default: 'weighted',
    }),
    graph_expansion: flag({
      description: 'Whether a search by meaning also follows the relations of its best hits, unless the request says.',
      default: false,
    }),
    vector_memory_bytes: bytes({
      description: 'Memory for vectors kept ready to search; the least used projects are dropped first.',
      default: 536_870_912,
      min: 1_048_576,
    }),
    reranker_enabled: flag({
      description:
        'Have the best hits of a search by meaning sorted again by a service that judges how well each answers.',
      default: false,
    }),
    reranker_candidates: integer({ description: 'Hits that are sorted again.', default: 20, min: 1, max: 1000 }),
    reranker_url: orNull(
      text({
        ...WEB_URL,
        description: 'Address of the reranking service, with or without `/rerank` at its end.',
        example: 'https://api.example.org/v1',
        secret: 'url',
      }),
    ),
    reranker_model: orNull(
      text({ description: "Model to ask for; null is the service's own.", example: 'rerank-small', maxLength: 200 }),
    ),
    reranker_api_key: orNull(
      text({
        ...SERVICE_KEY,
        description: 'Key for the reranking service.',
        example: 'a-key-from-the-provider',
        secret: 'all',
      }),
    ),
    reranker_timeout: duration({
      description: 'How long one call of the reranking service may take.',
      default: '5s',
      min: '100ms',
      max: '1m',
    }),
    permalinks_include_project: flag({
      description: "Whether a permalink begins with its project's name.",
      default: true,
    }),
    update_permalinks_on_move: flag({ description: 'Whether moving a note changes its permalink.', default: false }),
    disable_permalinks: flag({ description: 'Write no permalinks into notes.', default: false }),
    kebab_filenames: flag({ description: 'Make file names from titles in kebab-case.', default: false }),
    write_note_overwrite_default: flag({
      description: 'Whether writing a note that exists replaces it unless asked. Without effect in this version.',
      default: false,
    }),
    import_upload_max_bytes: bytes({
      description: 'Largest upload of an import. Without effect in this version, which imports nothing.',
      default: 104_857_600,
      min: 1024,
    }),
    index_delay_ms: integer({
      description: 'Milliseconds a changed note may rest before it is embedded.',
      default: 1000,
      max: 3_600_000,
    }),
    materialization_workers: integer({
      description: 'Notes written to the mirror at a time. Without effect in this version, which has no mirror.',
      default: 2,
      min: 1,
      max: 64,
    }),
    search_cache_ttl: duration({
      description:
        'How long search results may be reused while nothing is written; 0 never. Without effect in this version: every search is made anew.',
      default: '5s',
      max: '1h',
    }),
    entity_cache_ttl: duration({
      description: 'How long a note may be reused while nothing is written; 0 never.',
      default: '300s',
      max: '1d',
    }),
    mirror: group(
      {
        enabled: flag({
          description:
            'Keep a markdown file of every note on disk. Without effect in this version, which has no mirror.',
          default: false,
        }),
        dir: orNull(
          path({
            description:
              'Folder of the mirror; null is `mirror` in the data folder. Without effect in this version, which has no mirror.',
            example: './notes',
          }),
        ),
      },
      { description: 'Notes as files.' },
    ),
  },
  {
    description: 'Notes and how they are found.',
    checks: [
      ({ embedding_provider, embedding_url }, report) => {
        if (embedding_provider !== 'openai' || embedding_url !== null) return
        report(['embedding_url'], 'is needed for the provider `openai`')
      },
      ({ embedding_provider, embedding_folder }, report) => {
        if (embedding_provider !== 'folder' || embedding_folder !== null) return
        report(['embedding_folder'], 'is needed for the provider `folder`')
      },
      ({ reranker_enabled, reranker_url }, report) => {
        if (!reranker_enabled || reranker_url !== null) return
        report(['reranker_url'], 'is needed while `knowledge.reranker_enabled` is true')
      },
      ({ embedding_provider, semantic_search_enabled }, report) => {
        if (embedding_provider !== 'none' || semantic_search_enabled !== true) return
        report(['semantic_search_enabled'], 'must not be true while `knowledge.embedding_provider` is `none`')
      },
    ],
  },
)

export type KnowledgeSettings = Static<typeof knowledgeSettings>
