import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { InstanceChanges } from '../../src/instance/changes.ts'
import { ContactReader } from '../../src/instance/contact/contact-reader.ts'
import { DocumentService } from '../../src/instance/documents/document-service.ts'
import { TermsService } from '../../src/instance/documents/terms-service.ts'
import { BlockService } from '../../src/instance/domains/block-service.ts'
import { DomainRules } from '../../src/instance/domains/domain-rules.ts'
import { NamedDomainService } from '../../src/instance/domains/named-domain-service.ts'
import { LogInRecorder } from '../../src/instance/numbers/log-in-recorder.ts'
import { NumbersReader } from '../../src/instance/numbers/numbers-reader.ts'
import { RuleService } from '../../src/instance/rules/rule-service.ts'
import { SettingsKeeper } from '../../src/instance/settings/settings-keeper.ts'
import { SettingsService } from '../../src/instance/settings/settings-service.ts'
import { countCreatedNotes, countNotes, notesOf } from '../../src/knowledge/index.ts'
import type { Cipher } from '../../src/platform/secrets/cipher.ts'
import { openCipher } from '../../src/platform/secrets/open-cipher.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { loadSettings } from '../../src/settings.ts'
import { countRegistrations, countUsers } from '../../src/users/index.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Identity, installed } from '../support/identity.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

export interface SettingsChoice {
  yaml?: string
  env?: Record<string, string>
}

export type AdminWorld = Awaited<ReturnType<typeof adminWorld>>

/** A database after its first start, and everything that an administrator of the instance uses over it. */
export async function adminWorld(db: Database, choice: SettingsChoice = {}, clock = new FakeClock()) {
  const identity = await installed(db, clock)
  const cipher = await openCipher({ db, clock, encryptionKey: null })
  return { ...identity, clock, cipher, ...(await services(db, clock, cipher, choice)) }
}

/** What another process, or the same one after a start with these settings, has over the same data. */
export async function anotherProcess(world: Pick<AdminWorld, 'clock' | 'cipher'>, db: Database, choice = {}) {
  return services(db, world.clock, world.cipher, choice)
}

async function services(db: Database, clock: FakeClock, cipher: Cipher, { yaml = '', env = {} }: SettingsChoice) {
  const cwd = tempDir()
  writeFileSync(join(cwd, 'commonplace.yaml'), yaml)
  const loaded = await loadSettings({ mode: 'serve', env, cwd })
  const log = silentLogger()
  const changes = new InstanceChanges(db)
  const base = { db, clock, log, cipher, changes, settings: loaded.settings.instance, sources: loaded.sources }
  const keeper = new SettingsKeeper(base)
  const options = { ...base, keeper, baseUrl: () => 'https://kb.example.org' }
  const logIns = new LogInRecorder({ db, log })
  const notes = { countNotes, countCreatedNotes, notesOf }
  return {
    db,
    changes,
    keeper,
    settings: new SettingsService(options),
    rules: new RuleService(options),
    documents: new DocumentService(options),
    terms: new TermsService(options),
    blocks: new BlockService(options),
    blockOptions: options,
    allows: new NamedDomainService(options, 'domain_allows'),
    peers: new NamedDomainService(options, 'declared_peers'),
    domainRules: new DomainRules(options),
    logIns,
    numbers: new NumbersReader({ db, clock, users: { countUsers, countRegistrations }, notes, logIns }),
    contacts: new ContactReader({ db, clock, log, notes }),
  }
}

/** What was written down about a kind of target, oldest first. */
export async function auditOf(db: Database, targetType: string) {
  const rows = await db.query
    .selectFrom('audit_events')
    .select(['action', 'target_id', 'actor_kind', 'changes', 'request_id'])
    .where('target_type', '=', targetType)
    .orderBy('position')
    .execute()
  return rows.map(({ changes, ...row }) => ({ ...row, changes: JSON.parse(changes) }))
}

/** The first change that this process is told of. */
export function nextChange({ changes }: { changes: InstanceChanges }): Promise<void> {
  return new Promise((resolve) => {
    const stop = changes.listen(() => {
      stop()
      resolve()
    })
  })
}

/** The details of a 422, by member. */
export async function refusal(promise: Promise<unknown>): Promise<Record<string, string>> {
  try {
    await promise
  } catch (error) {
    const { code, details } = error as { code: string; details: { details: Record<string, { error: string }[]> }[] }
    if (code !== 'unprocessable') throw error
    const members = Object.entries(details[0]?.details ?? {})
    return Object.fromEntries(members.map(([name, problems]) => [name, problems.map(({ error }) => error).join()]))
  }
  throw new Error('It was not refused')
}

export type { Identity }
