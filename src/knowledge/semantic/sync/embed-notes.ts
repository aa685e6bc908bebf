import { isAppError } from '../../../platform/errors/app-error.ts'
import { CallFailed } from '../call-failed.ts'
import { type EmbeddingProvider, TextRefused } from '../provider.ts'
import { type EmbedThread, ThreadDied } from '../thread/embed-thread.ts'
import { encodeVector } from '../vector-bytes.ts'
import { type NotePlan, type NoteWork, planRemoval } from './plan-note.ts'

/** A note and the vectors of what is new in it, as they are stored. */
export interface EmbeddedNote {
  plan: NotePlan
  vectors: Uint8Array[]
  /** Why there are none, although others could be made. */
  refusal: string | null
}

export interface EmbedContext {
  provider: EmbeddingProvider
  thread: EmbedThread
  signal?: AbortSignal
  /** These notes failed again and again: what sounds as if it were about the provider may be about one of them. */
  isStuck?: boolean
}

/** Chunks and vectors of notes. Where some texts are refused, the other notes do not suffer for it. */
export async function embedNotes(context: EmbedContext, works: readonly NoteWork[]): Promise<EmbeddedNote[]> {
  try {
    return await embedTogether(context, works)
  } catch (error) {
    if (!mayBeOfTexts(context, error)) throw error
    await tryAnother(context, error)
    if (works.length === 1) return [await refused(context, works[0] as NoteWork, error)]
  }
  const notes: EmbeddedNote[] = []
  for (const work of works) {
    context.signal?.throwIfAborted()
    notes.push(...(await embedNotes(context, [work])))
  }
  return notes
}

async function embedTogether(context: EmbedContext, works: readonly NoteWork[]): Promise<EmbeddedNote[]> {
  const { provider, thread, signal } = context
  const isBuiltin = provider.model.provider === 'builtin'
  const { plans, vectors } = await thread.plan(works, isBuiltin)
  if (vectors !== null) return cut(plans, vectors, provider.model.dimensions)
  const texts = plans.flatMap((plan) => plan.texts)
  const embedded = await provider.embed(texts, 'document', signal)
  let next = 0
  return plans.map((plan) => {
    const own = embedded.slice(next, next + plan.added.length)
    next += own.length
    return { plan, vectors: own.map(encodeVector), refusal: null }
  })
}

function cut(plans: readonly NotePlan[], joined: Uint8Array, dimensions: number): EmbeddedNote[] {
  const bytes = 2 * dimensions
  let place = 0
  return plans.map((plan) => {
    const vectors = plan.added.map(() => {
      place += bytes
      return joined.subarray(place - bytes, place)
    })
    return { plan, vectors, refusal: null }
  })
}

function mayBeOfTexts({ isStuck }: Pick<EmbedContext, 'isStuck'>, error: unknown): error is Error {
  if (error instanceof CallFailed)
    return error.mayBeOfTexts || (isStuck === true && error.isTransient && !error.isOfRate)
  return error instanceof TextRefused || error instanceof ThreadDied
}

/** A provider that fails at every text is what is wrong, not a note. */
async function tryAnother({ provider, signal }: EmbedContext, error: Error): Promise<void> {
  try {
    await provider.embed(['note'], 'document', signal)
  } catch (failure) {
    throw isAppError(failure) ? failure : error
  }
}

async function refused({ thread }: EmbedContext, work: NoteWork, error: Error): Promise<EmbeddedNote> {
  return { plan: await withoutNew(thread, work), vectors: [], refusal: error.message }
}

/** What the note no longer says goes in any case; all of it, where not even that can be found out. */
async function withoutNew(thread: EmbedThread, work: NoteWork): Promise<NotePlan> {
  try {
    const { plans } = await thread.plan([work], false)
    const plan = plans[0] as NotePlan
    return { ...plan, chunks: plan.chunks - plan.added.length, fingerprint: '', added: [], texts: [] }
  } catch (error) {
    if (!mayBeOfTexts({}, error)) throw error
    return planRemoval(work.noteId, work.stored)
  }
}
