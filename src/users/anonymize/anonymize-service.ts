import { actor, recordAudit } from '../../platform/audit/record.ts'
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import type { Principal, UserId } from '../../platform/auth/principal.ts'
import { type Clock, MICROS_PER_MS, sleep } from '../../platform/clock/clock.ts'
import { isAppError } from '../../platform/errors/app-error.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import { jobKind } from '../../platform/jobs/job-kind.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { ErasedPerson, PersonalData } from '../../platform/personal-data/personal-data.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import { isStorageAway } from '../../platform/storage/storage-errors.ts'
import { keepAnAdministrator, refuseAgainstAdministrator, refuseOwnAccount } from '../guards.ts'
import { findUser, findUserByEmail, updateUser } from '../user/store-users.ts'
import type { User } from '../user/user.ts'
import { changedEmailsOf, hasAdministratorBeside, isActiveAdministrator } from './store-anonymize.ts'

export interface AnonymizeServiceOptions {
  db: Database
  clock: Clock
  log: Logger
  changes: IdentityChanges
  jobs: JobEngine
  personalData: PersonalData
}

export interface Anonymization {
  id: string
  anonymized: UserId[]
  errors: { userId: UserId; error: string }[]
}

type Verdict = 'anonymized' | { error: string }

const NOT_FOUND: Verdict = { error: 'User not found' }
const LAST_ADMINISTRATOR: Verdict = { error: 'The last administrator cannot be anonymized' }

/** Erases once more what was on its way when the user was anonymized: a request in flight, a node that had not heard. */
const ERASE_AGAIN = jobKind<{ userId: UserId; organizationId: User['organizationId'] }>('users.erase-again')
const AGAIN_AFTER_MS = 2_000

/** Overwrites what is left in the files of the database. Outlives a crash, and readers that hold it up. */
const ERASE_TRACES = jobKind<null>('users.erase-traces', {
  join: 'keep',
  concurrency: 1,
  maxAttempts: 100,
  backoff: { initialMs: 1_000, maxMs: 300_000 },
})
/** How long a caller waits for it; the job sees to the rest. */
const PATIENCE_MS = 3_000

export class AnonymizeService {
  readonly #options: AnonymizeServiceOptions

  constructor(options: AnonymizeServiceOptions) {
    this.#options = options
  }

  /** To be called once, before the engine starts. */
  registerJobs(): void {
    const { db, jobs, personalData } = this.#options
    jobs.register(ERASE_TRACES, () => db.eraseTraces())
    jobs.register(ERASE_AGAIN, async ({ payload }, { complete }) => {
      await db.write(
        async (tx) => {
          const user = await findUser(tx, payload.organizationId, payload.userId)
          if (user !== undefined) await personalData.erase(tx, await personOf(tx, user))
          await this.#traceLater(tx)
          await complete(tx)
        },
        { alone: true },
      )
    })
  }

  /** Each user in a transaction of its own, in the order given; one that fails leaves the others alone. */
  async anonymize(principal: Principal, userIds: readonly UserId[]): Promise<Anonymization> {
    const { db } = this.#options
    const id = newId<'Anonymization'>()
    const outcome = await collect(id, userIds, (userId) =>
      db
        .write((tx) => this.#anonymizeOne(tx, principal, userId, id), { alone: true })
        .catch((error: unknown) => this.#verdictOn(error, userId)),
    )
    if (outcome.anonymized.length > 0) await this.#eraseTraces()
    return outcome
  }

  /** What `anonymize` would answer now. */
  async rehearse(principal: Principal, userIds: readonly UserId[]): Promise<Anonymization> {
    return this.#options.db.read(async (snapshot) => {
      const gone: UserId[] = []
      return collect(newId(), userIds, async (userId) => {
        const verdict = await rehearseOne(snapshot, principal, userId, gone)
        if (verdict === 'anonymized') gone.push(userId)
        return verdict
      })
    })
  }

  async #anonymizeOne(tx: Transaction, principal: Principal, userId: UserId, call: string): Promise<Verdict> {
    const { clock, changes, jobs, personalData } = this.#options
    const { organizationId } = principal
    const user = await findUser(tx, organizationId, userId)
    if (user === undefined) return NOT_FOUND
    refuseOwnAccount(principal, user, 'anonymize')
    await keepAnAdministrator(tx, user, 'anonymized')
    await refuseAgainstAdministrator(tx, principal, user, 'anonymize')
    await personalData.erase(tx, await personOf(tx, user))
    if (user.anonymizedAt !== null) return 'anonymized'
    const now = clock.now()
    await updateUser(tx, user, anonymous(user, now))
    // Who, whom and when; where the caller was is nobody's business later.
    await recordAudit(tx, {
      organizationId,
      action: 'user.anonymized',
      actor: actor(principal),
      target: { type: 'users', id: userId },
      changes: { anonymization: { new: call } },
    })
    const again = { userId, organizationId }
    await jobs.enqueue(tx, { kind: ERASE_AGAIN, payload: again, dueAt: now + AGAIN_AFTER_MS * MICROS_PER_MS })
    await this.#traceLater(tx)
    changes.announce(tx)
    return 'anonymized'
  }

  async #traceLater(tx: Transaction): Promise<void> {
    if (tx.engine !== 'sqlite') return
    const dueAt = this.#options.clock.now() + AGAIN_AFTER_MS * MICROS_PER_MS
    await this.#options.jobs.enqueue(tx, { kind: ERASE_TRACES, key: 'traces', payload: null, dueAt })
  }

  async #eraseTraces(): Promise<void> {
    const { db, clock, log } = this.#options
    const erasing = db.eraseTraces().catch((error: unknown) => {
      log.warn({ err: error }, 'traces of anonymized users could not be erased at once; a job does it later')
    })
    await Promise.race([erasing, sleep(clock, PATIENCE_MS)])
  }

  #verdictOn(error: unknown, userId: UserId): Verdict {
    if (isAppError(error, 'permission_denied')) return { error: error.message }
    // Nothing is wrong with this user: whoever asks again may succeed, and is told so.
    if (isStorageAway(error)) {
      this.#options.log.warn({ err: error, user: userId }, 'a user could not be anonymized now')
      return { error: error.message }
    }
    this.#options.log.error({ err: error, user: userId }, 'a user could not be anonymized')
    return { error: 'Internal error' }
  }
}

async function rehearseOne(
  reader: Reader,
  principal: Principal,
  userId: UserId,
  gone: readonly UserId[],
): Promise<Verdict> {
  const { organizationId } = principal
  if ((await findUser(reader, organizationId, userId)) === undefined) return NOT_FOUND
  if (principal.userId === userId) return { error: 'You cannot anonymize your own account' }
  const isOne = await isActiveAdministrator(reader, organizationId, userId)
  if (isOne && !(await hasAdministratorBeside(reader, organizationId, [...gone, userId]))) return LAST_ADMINISTRATOR
  const judged = refuseAgainstAdministrator(reader, principal, { id: userId }, 'anonymize')
  return judged.then((): Verdict => 'anonymized', refusal)
}

function refusal(error: unknown): Verdict {
  if (isAppError(error, 'permission_denied')) return { error: error.message }
  throw error
}

async function collect(
  id: string,
  userIds: readonly UserId[],
  judge: (userId: UserId) => Promise<Verdict>,
): Promise<Anonymization> {
  const outcome: Anonymization = { id, anonymized: [], errors: [] }
  for (const userId of new Set(userIds)) {
    const verdict = await judge(userId)
    if (verdict === 'anonymized') outcome.anonymized.push(userId)
    else outcome.errors.push({ userId, error: verdict.error })
  }
  return outcome
}

/** Before the log is blanked, which alone knows the addresses in between. */
async function personOf(tx: Transaction, { id, organizationId, email, handle }: User): Promise<ErasedPerson> {
  const formerEmails: string[] = []
  for (const former of await changedEmailsOf(tx, organizationId, id)) {
    const holder = await findUserByEmail(tx, organizationId, former)
    if (holder === undefined || holder.id === id) formerEmails.push(former)
  }
  return { id, organizationId, email, handle, formerEmails }
}

/** The id and the time of creation stay, so that what refers to the user still does. */
function anonymous(user: User, now: number): User {
  const address = `anonymized-${user.id}@anonymized.invalid`
  return {
    ...user,
    name: 'Anonymized User',
    email: address,
    handle: address,
    title: null,
    lastLoginAt: null,
    verified: false,
    status: 'Disabled',
    allowedLoginMethods: [],
    anonymizedAt: now,
    modifiedAt: now,
  }
}
