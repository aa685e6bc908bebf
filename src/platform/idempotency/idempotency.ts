/**
 * Answers that are kept for a repeat of the same request. A key belongs to its caller, the method and the path.
 *
 *            claim                     keep
 *   (none) ────────► running ───────────────────► answered ──── 24 h ───► (none)
 *      ▲                │
 *      └────────────────┘ release: the answer may be another one next time; or abandoned for a minute (a crash; on SQLite until the next start)
 *
 * Every arrow is one transaction, so it holds between several processes as well. What the request itself does is
 * another transaction: when a process dies between the two, a repeat runs the request again after that minute or start. An
 * operation whose second run would fail, or make a second thing, says in its own transaction that it was done (`keepDone`), and a repeat is
 * answered from what is there; or keeps its answer there (`keepIn`). One of several transactions makes sure in each that
 * the claim is still its own, and says there what it has done (`renew`): a repeat goes on behind it.
 */
import { hash } from 'node:crypto'
import { type Clock, MICROS_PER_MS, type Micros, sleep } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import type { JobEngine } from '../jobs/job-engine.ts'
import type { PersonalDataPart } from '../personal-data/personal-data.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { emailMention, mentionsIn, resourceMention, userMention } from './mentions.ts'
import {
  abandonKeys,
  claimKey,
  deleteBodiesWith,
  deleteKeysOf,
  deleteOldKeys,
  findKey,
  type KeptAnswer,
  type KeyPlace,
  keepAnswer,
  mentionAlso,
  releaseKey,
  renewKey,
} from './store.ts'

const KEPT_MS = 24 * 3_600_000
/** Longer than any request of ours runs. */
const ABANDONED_MS = 60_000
const LARGEST_BODY = 1024 * 1024
const PURGE_EVERY_MS = 600_000
const PURGE_BATCH = 500
const INSIST_EVERY_MS = 1_000
// Each may hold a kept answer.
const MOST_INSISTING = 100

const KEY = /^[\x21-\x7e]{1,255}$/

export interface KeyedRequest extends KeyPlace {
  /** Whatever tells this request from another one. */
  content: string
}

export interface Answer {
  status: number
  headers: Record<string, string>
  /** JSON; empty for none. */
  body: string
}

/** Makes an answer that was not kept from what is there now; undefined when nothing of it is. */
export type Remake = (kept: Omit<Answer, 'body'>) => Promise<Answer | undefined>

/** The right to run the request. */
export interface Claim extends KeyPlace {
  readonly created_at: Micros
}

/** `done`: what a request whose process died had done under the key, in the words of its operation. */
export type Verdict = { kind: 'first'; claim: Claim; done: string | null } | { kind: 'repeat'; answer: Answer }

export class Idempotency {
  readonly #db: Database
  readonly #clock: Clock
  #insisting = 0

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** Whether the request is the first with its key. Throws when the key is unusable, in use or belongs to another request. */
  async begin(request: KeyedRequest, remake?: Remake): Promise<Verdict> {
    const { subject, route, key } = request
    if (!KEY.test(key)) {
      throw new AppError('invalid_argument', 'Idempotency-Key must have 1 to 255 visible ASCII characters')
    }
    const fingerprint = hash('sha256', request.content, 'base64url')
    for (let tries = 0; tries < 3; tries++) {
      const now = this.#clock.now()
      const claim = { subject, route, key, created_at: now }
      const limits = { expired: now - KEPT_MS * MICROS_PER_MS, abandoned: now - ABANDONED_MS * MICROS_PER_MS }
      const claimed = await claimKey(this.#db, { ...claim, fingerprint }, limits).catch((error: unknown) => {
        // It may have been made although the answer was lost: nobody would run the request, nor let another one do so.
        void this.insist(() => this.release(claim))
        throw error
      })
      if (claimed !== undefined) return { kind: 'first', claim, done: textOf(claimed.done) }
      const known = await findKey(this.#db, claim)
      // Released just now: it can be claimed.
      if (known === undefined) continue
      if (known.fingerprint !== fingerprint) {
        throw new AppError('unprocessable', 'Idempotency-Key was used with a different request')
      }
      if (known.status === null) break
      const kept = { status: known.status, headers: JSON.parse(known.headers ?? '{}') as Record<string, string> }
      const answer = known.body === null ? await remake?.(kept) : { ...kept, body: textOf(known.body) }
      if (answer !== undefined) return { kind: 'repeat', answer }
      const message = 'The answer to this Idempotency-Key was too large to keep, or what it showed is gone'
      throw new AppError('conflict', message)
    }
    throw stillRunning()
  }

  /** Before the answer leaves. */
  async keep(claim: Claim, answer: Answer): Promise<void> {
    const kept = keptOf(answer)
    await this.#db.write((tx) => keepAnswer(tx, claim, kept), { isolation: 'read committed' })
  }

  /** The same as part of the transaction that does what was asked for. */
  async keepIn(tx: Transaction, claim: Claim, answer: Answer): Promise<void> {
    if (!(await keepAnswer(tx, claim, keptOf(answer)))) throw stillRunning()
  }

  /**
   * At the end of each of several transactions that do what was asked for: undone when another request has taken the key over, which
   * does the rest of it, behind what is `done` by then. From its commit on the claim is the one that is answered.
   */
  async renew(tx: Transaction, claim: Claim, done: string): Promise<Claim> {
    const now = this.#clock.now()
    if (!(await renewKey(tx, claim, now, keptBody(done)))) throw stillRunning()
    return { ...claim, created_at: now }
  }

  /** Part of the transaction that does what was asked for. From its commit on a repeat gets this answer, whose body is made anew. */
  async keepDone(tx: Transaction, claim: Claim, { status, headers }: Omit<Answer, 'body'>): Promise<void> {
    const kept = { status, headers: JSON.stringify(headers), body: null, mentions: [] }
    // Another request that runs under the key would not know of it: one of the two is enough.
    if (!(await keepAnswer(tx, claim, kept))) throw stillRunning()
  }

  /** Storage that did not take what became of a claim is asked again, until the key would be free by itself. */
  async insist(settle: () => Promise<void>): Promise<void> {
    if (this.#insisting >= MOST_INSISTING) return
    this.#insisting++
    const endAt = this.#clock.elapsedMs() + ABANDONED_MS
    let isSettled = false
    while (!isSettled && this.#clock.elapsedMs() < endAt) {
      await sleep(this.#clock, INSIST_EVERY_MS)
      isSettled = await settle().then(
        () => true,
        () => false,
      )
    }
    this.#insisting--
  }

  /** The next request with the key runs, behind what was done under it. */
  async release(claim: Claim): Promise<void> {
    const abandoned = this.#clock.now() - ABANDONED_MS * MICROS_PER_MS
    await this.#db.write((tx) => releaseKey(tx, claim, abandoned), { isolation: 'read committed' })
  }

  /** At the start of a server that is alone with its database: whatever still runs by the record, ran in a process that is gone. */
  async releaseAll(): Promise<void> {
    const abandoned = this.#clock.now() - ABANDONED_MS * MICROS_PER_MS
    await this.#db.write((tx) => abandonKeys(tx, abandoned))
  }

  async purge(signal?: AbortSignal): Promise<void> {
    const before = this.#clock.now() - KEPT_MS * MICROS_PER_MS
    while ((await deleteOldKeys(this.#db, before, PURGE_BATCH)) > 0) signal?.throwIfAborted()
  }

  schedulePurge(jobs: JobEngine): void {
    jobs.recurring({
      name: 'idempotency.purge',
      everyMs: PURGE_EVERY_MS,
      run: ({ signal }) => this.purge(signal),
    })
  }
}

function keptOf({ status, headers, body }: Answer): KeptAnswer {
  return { status, headers: JSON.stringify(headers), ...keptBody(body) }
}

function keptBody(body: string): Pick<KeptAnswer, 'body' | 'mentions'> {
  const mentions = body.length > LARGEST_BODY ? null : mentionsIn(body)
  return mentions === null ? { body: null, mentions: [] } : { body: Buffer.from(body), mentions }
}

function textOf<Bytes extends Uint8Array | null>(bytes: Bytes): Bytes extends null ? null : string
function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString()
}

/** What a caller is called here. */
export function subjectOf(userId: string): string {
  return `user ${userId}`
}

/** Keys of the person, and answers to others that show the person. */
export const idempotencyData: PersonalDataPart = {
  name: 'idempotency',
  erase: (tx, { id, email, handle }) =>
    deleteKeysOf(tx, subjectOf(id), [userMention(id), emailMention(email), emailMention(handle)]),
}

/** Somebody gives an address up: answers that name it are still about this person, whom nothing will lead to it any more. */
export function answersStayAbout(tx: Transaction, userId: string, email: string): Promise<void> {
  return mentionAlso(tx, emailMention(email), userMention(userId))
}

/** What goes for ever is in no kept answer either. By external ids; to be called in the transaction that removes it. */
export function forgetAnswersAbout(tx: Transaction, externalIds: readonly string[]): Promise<void> {
  return deleteBodiesWith(tx, externalIds.map(resourceMention))
}

function stillRunning(): AppError {
  return new AppError('aborted', 'A request with this Idempotency-Key is still running', {
    headers: { 'retry-after': '1' },
  })
}
