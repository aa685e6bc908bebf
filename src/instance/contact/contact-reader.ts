import type { UserId } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { ignoreFailure } from '../../platform/errors/ignore-failure.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import type { NoteFacts } from '../deps.ts'
import type { ContactUser } from '../public/instance-data.ts'
import type { InstanceSettings } from '../settings.ts'
import { accountNameOf, contactKey } from './account-name.ts'
import {
  type ContactRow,
  findAccountName,
  findContactUser,
  findDefaultContact,
  findUserRow,
  keepAccountName,
  nextAccountName,
} from './store-contact.ts'

export interface ContactReaderOptions {
  db: Database
  clock: Clock
  log: Logger
  notes: Pick<NoteFacts, 'notesOf'>
}

const MISS_KEPT_MS = 60_000

/** Who answers for the server, and what the account of that user shows. */
export class ContactReader {
  readonly #options: ContactReaderOptions
  /** Whom the setting named last: looking for a handle reads all users. */
  #found: { text: string; id: UserId } | undefined
  /** Settings that named nobody. After a change of an administrator they are others. */
  #missed: { settings: InstanceSettings; untilMs: number } | undefined

  constructor(options: ContactReaderOptions) {
    this.#options = options
  }

  /** Null when the user is disabled, anonymized or not there. */
  async readContact(reader: Reader, settings: InstanceSettings): Promise<ContactUser | null> {
    const { user: text } = settings.contact
    const user = text === null ? await findDefaultContact(reader) : await this.#find(reader, text, settings)
    return user === undefined || !isShown(user) ? null : this.#describe(reader, user)
  }

  async #find(reader: Reader, text: string, settings: InstanceSettings): Promise<ContactRow | undefined> {
    if (this.#found?.text === text) {
      const user = await findUserRow(reader, this.#found.id)
      if (user !== undefined && (await isStill(reader, user, text))) return user
    }
    const { clock } = this.#options
    if (this.#missed?.settings === settings && clock.elapsedMs() < this.#missed.untilMs) return undefined
    const user = await findContactUser(reader, text)
    this.#found = user && { text, id: user.id }
    this.#missed = user === undefined ? { settings, untilMs: clock.elapsedMs() + MISS_KEPT_MS } : undefined
    return user
  }

  async #describe(reader: Reader, user: ContactRow): Promise<ContactUser> {
    const { db, log, notes } = this.#options
    const kept = await findAccountName(reader, user.id)
    if (kept === undefined) {
      ignoreFailure(
        db.write((tx) => keepAccountName(tx, user.id)),
        'the name of an account is kept at the next look',
        log,
      )
    }
    const { count, lastCreatedAt } = await notes.notesOf(reader, user.id)
    return {
      id: user.id,
      username: kept ?? (await nextAccountName(reader, user)),
      name: user.name,
      title: user.title,
      isServiceAccount: user.service_account === 1,
      createdAt: user.created_at,
      noteCount: count,
      lastNoteAt: lastCreatedAt,
    }
  }
}

function isShown({ status, anonymized_at: anonymizedAt }: ContactRow): boolean {
  return status !== 'Disabled' && anonymizedAt === null
}

async function isStill(reader: Reader, user: ContactRow, text: string): Promise<boolean> {
  const key = contactKey(text)
  const names = [user.id, user.handle_key, user.email_key, accountNameOf(user.handle_key)]
  return names.includes(key) || (await findAccountName(reader, user.id)) === key
}
