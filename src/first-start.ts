/**
 * What a database needs before it can serve: everything on the first start, only what is new on each later one.
 * What it holds already is never overwritten.
 */
import { createDefaultNamespace, ensureNamespaces } from './callbacks/namespace/ensure-namespaces.ts'
import { createMainProject } from './knowledge/first-start.ts'
import { IdentityChanges } from './platform/auth/identity-changes.ts'
import type { PermissionName } from './platform/auth/permissions.ts'
import { type Clock, toRfc3339 } from './platform/clock/clock.ts'
import { newId } from './platform/ids/uuid.ts'
import type { Logger } from './platform/logging/logger.ts'
import type { Database } from './platform/storage/database.ts'
import type { Settings } from './settings.ts'
import { createIdentity, ignoredSecrets, planFirstAdministrator } from './users/first-start.ts'
import {
  discardPendingSecrets,
  publishSecrets,
  setAsideForeignSecrets,
  settlePendingSecrets,
  writePendingSecrets,
} from './users/first-start-file.ts'
import { syncCatalogue } from './users/role/catalogue-sync.ts'
import { findInstallationId } from './users/store-installation.ts'

export interface FirstStartOptions {
  db: Database
  clock: Clock
  log: Logger
  settings: Pick<Settings, 'auth' | 'storage' | 'callbacks'>
  mode: 'dev' | 'serve'
}

export interface FirstStartResult {
  installationId: string
  /** Whether this very call set the installation up. */
  created: boolean
  /** Where made-up secrets were put by this start; null when there are none or they were put there before. */
  secretsFile: string | null
  /** Permissions that this version brought into an existing database. */
  introduced: PermissionName[]
}

export async function firstStart(options: FirstStartOptions): Promise<FirstStartResult> {
  const { db, clock, log, settings } = options
  const existing = await findInstallationId(db)
  const result = existing === undefined ? await install(options) : await resume(options, existing)
  await ensureNamespaces({ db, log, now: clock.now() }, settings.callbacks.namespaces)
  if (result.secretsFile !== null) {
    log.info({ file: result.secretsFile }, 'the secrets made up for the first administrator are in a file')
  }
  return result
}

async function install(options: FirstStartOptions): Promise<FirstStartResult> {
  const { db, clock, log, settings, mode } = options
  const dataDir = settings.storage.data_dir
  const administrator = planFirstAdministrator(settings.auth)
  const installationId: string = newId()
  const now = clock.now()
  const secrets = {
    installation_id: installationId,
    created_at: toRfc3339(now),
    admin_email: administrator.email,
    ...administrator.madeUp,
  }
  const hasMadeUp = Object.keys(administrator.madeUp).length > 0
  // NOTE If the write below fails, the pending file stays: a connection lost during the commit leaves us not knowing.
  if (hasMadeUp) await writePendingSecrets(dataDir, secrets)
  const won = await db.write(
    async (tx) => {
      if (!(await createIdentity(tx, installationId, administrator, now))) return false
      await createMainProject(tx, now)
      await createDefaultNamespace(tx, mode, now)
      return true
    },
    // The claim makes the processes take turns; under a stricter isolation the loser would fail instead.
    { alone: true, isolation: 'read committed' },
  )
  if (!won) {
    if (hasMadeUp) await discardPendingSecrets(dataDir, installationId)
    return resume(options, (await findInstallationId(db)) as string)
  }
  log.info({ installationId }, 'first start: the organization and its first administrator were created')
  await settlePendingSecrets(dataDir, installationId)
  if (!hasMadeUp) await setAsideForeignSecrets(dataDir, installationId)
  const secretsFile = hasMadeUp ? await publishSecrets(dataDir, secrets) : null
  return { installationId, created: true, secretsFile, introduced: [] }
}

async function resume(options: FirstStartOptions, installationId: string): Promise<FirstStartResult> {
  const { db, clock, log, settings } = options
  const secretsFile = await settlePendingSecrets(settings.storage.data_dir, installationId)
  for (const setting of await ignoredSecrets(db, settings.auth)) {
    log.warn(`auth.${setting} is ignored: it counts on the first start only; make one with "commonplace token create"`)
  }
  const changes = new IdentityChanges(db)
  try {
    const introduced = await syncCatalogue({ db, clock, changes })
    if (introduced.length > 0) log.info({ permissions: introduced }, 'new permissions were introduced')
    return { installationId, created: false, secretsFile, introduced }
  } finally {
    changes.close()
  }
}
