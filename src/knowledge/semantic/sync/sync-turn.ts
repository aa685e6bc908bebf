import { type Clock, MICROS_PER_MS } from '../../../platform/clock/clock.ts'
import { type Backoff, retryDelayMs } from '../../../platform/jobs/backoff.ts'
import type { Database, Reader, Transaction } from '../../../platform/storage/database.ts'
import { storableText } from '../../../platform/text/storable-text.ts'
import { lastChange } from '../../history/store-changes.ts'
import { embedOf } from '../../text/frontmatter/note-metadata.ts'
import { ofProvider } from '../provider-failed.ts'
import { type EmbedContext, type EmbeddedNote, embedNotes } from './embed-notes.ts'
import { type ChunkPlace, type NoteWork, planRemoval } from './plan-note.ts'
import { leaseEnd } from './project-lease.ts'
import { lostNotes } from './store-lost-notes.ts'
import {
  type ChangedNote,
  changedNotes,
  contentsOf,
  failedNotes,
  fingerprintsOf,
  storedChunks,
  trashedNotes,
} from './store-notes-to-embed.ts'
import { advanceProject, otherModels, type SyncKey, type SyncState } from './store-sync.ts'
import {
  attemptsOf,
  dropStaleVectors,
  forgetFailures,
  insertVectors,
  moveVectors,
  type NewVector,
  recordEmbeddings,
  recordFailure,
  removeVectors,
} from './store-vectors.ts'

export interface TurnContext extends EmbedContext {
  db: Database
  clock: Clock
  owner: string
  /** Some notes are gone without anybody knowing which. */
  hasLost: boolean
}

export interface Turn {
  /** Where the next one begins; undefined when another process has the project, or it begins from the start. */
  synced: number | undefined
  /** Whether anything was left to do. */
  hadWork: boolean
}

const NOTES = 64
const CHARACTERS = 100_000
// What is there of a note is read, and removed where the note is gone: so many characters for each chunk of it.
const PER_CHUNK = 100
// What one transaction writes: some milliseconds of it.
const VECTORS_AT_ONCE = 256
const LOST_NOTES = 1_000

// Some minutes, with the pauses between them: a service that restarts is back by then.
const STUCK_AFTER = 8
const MOST_ATTEMPTS = 5
const NOTE_BACKOFF: Backoff = { initialMs: 10_000, maxMs: 3_600_000, coefficient: 6, jitter: 0.2 }
const LONGEST_ERROR = 500

/** The notes that waited longest, read, embedded and written. */
export async function syncTurn(context: TurnContext, key: SyncKey, state: SyncState): Promise<Turn> {
  const batch = await readBatch(context, key, state)
  if (batch.to === state.synced_seq && batch.removals.length === 0 && batch.works.length === 0) {
    return { synced: state.synced_seq, hadWork: false }
  }
  const isStuck = batch.isAgain || state.failures >= STUCK_AFTER
  const embedded = batch.works.length === 0 ? [] : await ofProvider(embedNotes({ ...context, isStuck }, batch.works))
  const notes = [...batch.removals, ...embedded]
  const synced = await writeNotes(context, key, state, batch, notes)
  return { synced, hadWork: true }
}

interface Batch {
  to: number
  /** Everything is embedded anew with it. */
  isForcedEnd: boolean
  /** These failed before, each by itself. */
  isAgain: boolean
  works: NoteWork[]
  removals: EmbeddedNote[]
  fingerprints: Map<number, string>
  others: number[]
}

function readBatch({ db, clock, hasLost }: TurnContext, key: SyncKey, state: SyncState): Promise<Batch> {
  return db.read(async (snapshot) => {
    const changed = withinSize(await changedNotes(snapshot, key, state.synced_seq, NOTES))
    const to = changed.at(-1)?.seq ?? state.synced_seq
    const isForced = state.forced_seq > 0
    const isForcedEnd = isForced && to >= (await lastChange(snapshot, key.projectId))
    const notes = changed.length > 0 ? changed : withinSize(await failedNotes(snapshot, key, clock.now(), NOTES))
    const gone = await goneNotes(snapshot, key, notes, hasLost || state.synced_seq === 0)
    const known = notes.filter((note): note is KnownNote => note.note_id !== null)
    const embedded = known.filter((note) => embedOf(JSON.parse(note.metadata)))
    const ids = [...new Set([...known.map(({ note_id: noteId }) => noteId), ...gone])]
    const stored = await storedChunks(snapshot, key, ids)
    const contents = await contentsOf(
      snapshot,
      embedded.map(({ note_id: noteId }) => noteId),
    )
    const works = embedded.map(({ note_id: noteId, seq, title, created_at }) => ({
      noteId,
      note: { title, created_at },
      content: contents.get(noteId) ?? '',
      stored: stored.get(noteId) ?? [],
      // Also what changed since: a note that was edited before its turn still has what it had.
      isForced: isForced && seq > 0,
    }))
    const kept = new Set(works.map(({ noteId }) => noteId))
    const removals = ids
      .filter((id) => !kept.has(id))
      .map((id) => ({ plan: planRemoval(id, stored.get(id) ?? []), vectors: [], refusal: null }))
    const fingerprints = await fingerprintsOf(snapshot, key, ids)
    const isAgain = changed.length === 0
    return { to, isForcedEnd, isAgain, works, removals, fingerprints, others: await otherModels(snapshot, key) }
  })
}

type KnownNote = ChangedNote & { note_id: number }

/** Whatever had the id of one of these notes. Those that were taken out of the trash, too, are found by what they left. */
async function goneNotes(
  snapshot: Reader,
  key: SyncKey,
  notes: readonly ChangedNote[],
  hasLost: boolean,
): Promise<number[]> {
  const externalIds = notes.map((note) => note.external_id)
  const trashed = await trashedNotes(snapshot, key.projectId, externalIds)
  const inTrash = new Set(trashed.map((note) => note.external_id))
  const isUnknown = notes.some((note) => note.note_id === null && !inTrash.has(note.external_id))
  const lost = isUnknown || hasLost ? await lostNotes(snapshot, key, LOST_NOTES) : []
  return [...trashed.map(({ note_id: noteId }) => noteId), ...lost]
}

/** The first one always. */
function withinSize(notes: readonly ChangedNote[]): ChangedNote[] {
  let left = CHARACTERS
  const count = notes.findIndex(({ size, chunks }) => {
    const isFull = left <= 0
    left -= Math.max(size, PER_CHUNK * chunks)
    return isFull
  })
  return count === -1 ? [...notes] : notes.slice(0, count)
}

/** In as many transactions as are needed to keep each of them short; the last one moves on. */
async function writeNotes(
  context: TurnContext,
  key: SyncKey,
  { synced_seq: from, forced_seq: forced }: SyncState,
  batch: Batch,
  notes: readonly EmbeddedNote[],
): Promise<number | undefined> {
  const { db, clock, owner } = context
  const added = notes.flatMap(({ plan, vectors }) =>
    vectors.map((vector, at): NewVector => ({ ...(plan.added[at] as ChunkPlace), noteId: plan.noteId, vector })),
  )
  const inStep = (
    place: { to: number; ended: number },
    work: (tx: Transaction, seq: number) => Promise<void>,
  ): Promise<number | undefined> =>
    db.write(
      async (tx) => {
        const seq = await advanceProject(tx, key, { owner, from, ...place, until: leaseEnd(clock) })
        if (seq === undefined) return undefined
        await work(tx, seq)
        return place.to
      },
      { isolation: 'read committed' },
    )
  for (; added.length > VECTORS_AT_ONCE; ) {
    const some = added.splice(0, VECTORS_AT_ONCE)
    const step = await inStep({ to: from, ended: 0 }, (tx) => insertVectors(tx, key, some))
    if (step === undefined) return undefined
  }
  return inStep({ to: batch.to, ended: batch.isForcedEnd ? forced : 0 }, async (tx, seq) => {
    await insertVectors(tx, key, added)
    await moveVectors(
      tx,
      notes.flatMap(({ plan }) => plan.moved),
    )
    await removeVectors(
      tx,
      notes.flatMap(({ plan }) => plan.removed),
    )
    const changed = notes.filter((note) => isChanged(note, batch.fingerprints.get(note.plan.noteId)))
    await recordEmbeddings(
      tx,
      key,
      changed.map(({ plan }) => ({ ...plan, seq })),
    )
    for (const modelId of batch.others) {
      for (const { plan } of notes) await dropStaleVectors(tx, { ...key, modelId }, plan)
    }
    await settleFailures(tx, context, key, notes)
  })
}

function isChanged({ plan }: EmbeddedNote, fingerprint: string | undefined): boolean {
  // A note that never had a vector needs no row that says it has none.
  if (plan.chunks === 0 && plan.removed.length === 0) return fingerprint !== undefined && fingerprint !== ''
  return plan.fingerprint !== fingerprint || plan.added.length + plan.moved.length + plan.removed.length > 0
}

async function settleFailures(
  tx: Transaction,
  { clock }: TurnContext,
  key: SyncKey,
  notes: readonly EmbeddedNote[],
): Promise<void> {
  const done = notes.filter(({ refusal }) => refusal === null)
  await forgetFailures(
    tx,
    key,
    done.map(({ plan }) => plan.noteId),
  )
  for (const { plan, refusal } of notes) {
    if (refusal === null) continue
    const { noteId } = plan
    const attempts = (await attemptsOf(tx, key, noteId)) + 1
    const now = clock.now()
    const dueAt = attempts < MOST_ATTEMPTS ? now + retryDelayMs(attempts, NOTE_BACKOFF) * MICROS_PER_MS : null
    await recordFailure(tx, key, {
      noteId,
      attempts,
      dueAt,
      error: storableText(refusal, LONGEST_ERROR),
      failedAt: now,
    })
  }
}
