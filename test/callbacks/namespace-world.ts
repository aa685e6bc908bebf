import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NamespacePolicies } from '../../src/callbacks/namespace/namespace-policies.ts'
import { NamespaceService } from '../../src/callbacks/namespace/namespace-service.ts'
import type { CallbacksSettings } from '../../src/callbacks/settings.ts'
import type { Principal } from '../../src/platform/auth/principal.ts'
import type { Cipher } from '../../src/platform/secrets/cipher.ts'
import { openCipher } from '../../src/platform/secrets/open-cipher.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { loadSettings } from '../../src/settings.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { installed } from '../support/identity.ts'
import { tempDir } from '../support/temp-dir.ts'

export interface NamespaceWorld {
  db: Database
  clock: FakeClock
  cipher: Cipher
  settings: CallbacksSettings
  operator: Principal
  policies: NamespacePolicies
  namespaces: NamespaceService
}

export async function callbacksSettings(yaml = ''): Promise<CallbacksSettings> {
  const cwd = tempDir()
  writeFileSync(join(cwd, 'commonplace.yaml'), yaml)
  return (await loadSettings({ mode: 'serve', env: {}, cwd })).settings.callbacks
}

/** A database after its first start, and the services over it under these settings. */
export async function namespaceWorld(db: Database, yaml = ''): Promise<NamespaceWorld> {
  const clock = new FakeClock()
  const settings = await callbacksSettings(yaml)
  const { operator } = await installed(db, clock)
  return process(db, clock, settings, operator)
}

/** What another process has over the same data. */
export async function anotherProcess(world: NamespaceWorld, db: Database): Promise<NamespaceWorld> {
  return process(db, world.clock, world.settings, world.operator)
}

async function process(
  db: Database,
  clock: FakeClock,
  settings: CallbacksSettings,
  operator: Principal,
): Promise<NamespaceWorld> {
  const cipher = await openCipher({ db, clock, encryptionKey: null })
  const policies = new NamespacePolicies({ db, clock, cipher, settings })
  const namespaces = new NamespaceService({ db, clock, cipher, policies })
  return { db, clock, cipher, settings, operator, policies, namespaces }
}

export function signingSecret(n: number): string {
  return `whsec_${Buffer.alloc(32, n).toString('base64')}`
}
