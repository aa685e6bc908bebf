/**
 * The file that tells the operator the secrets which the first start made up.
 *
 * The secrets lie on disk, in a pending file that is named after the installation, before the transaction commits;
 * the file gets its real name afterwards. So a crash leaves either a pending file without an installation, which the
 * next start throws away, or an installation whose pending file the next start finds and puts in place. There is
 * never an installation whose secrets nobody knows, nor a first-start.json whose secrets do not work.
 */
import { constants } from 'node:fs'
import { chmod, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../platform/errors/app-error.ts'
import { makeDataDirectory } from '../platform/storage/make-directory.ts'

export const FIRST_START_FILE = 'first-start.json'

const PENDING = /^first-start\.([0-9a-f-]{36})\.pending$/

export interface FirstStartSecrets {
  installation_id: string
  created_at: string
  admin_email: string
  [setting: string]: string
}

/** Durable when it returns: the disk holds the content and the directory holds the name. */
export async function writePendingSecrets(dataDir: string, secrets: FirstStartSecrets): Promise<void> {
  try {
    makeDataDirectory(dataDir)
    await writeDurably(dataDir, pendingName(secrets.installation_id), secrets)
  } catch (error) {
    throw new AppError(
      'failed_precondition',
      `The secrets of the first start cannot be written to the data directory ${dataDir}: ` +
        'make it writable for this user, or choose another one with storage.data_dir',
      { cause: error },
    )
  }
}

/** Another process was faster, so these secrets open nothing. */
export async function discardPendingSecrets(dataDir: string, installationId: string): Promise<void> {
  await rm(join(dataDir, pendingName(installationId)), { force: true })
}

/** Puts the file in place and answers its path. What another installation left there is kept under its own name. */
export async function publishSecrets(dataDir: string, secrets: FirstStartSecrets): Promise<string> {
  const published = await publishPending(dataDir, secrets.installation_id)
  // A process that shares the directory may have tidied it up meanwhile; the secrets are still in memory.
  if (!published && (await installationOf(dataDir)) !== secrets.installation_id) {
    await writeDurably(dataDir, pendingName(secrets.installation_id), secrets)
    await publishPending(dataDir, secrets.installation_id)
  }
  return join(dataDir, FIRST_START_FILE)
}

/**
 * At each start: finishes what a crash interrupted. Answers the path when it put secrets in place. Only for a
 * database that has an installation: before that, a pending file may belong to a process that is about to commit.
 */
export async function settlePendingSecrets(dataDir: string, installationId: string): Promise<string | null> {
  let published = false
  for (const name of await namesIn(dataDir)) {
    const id = PENDING.exec(name)?.[1]
    if (id === undefined) continue
    if (id === installationId) published = await publishPending(dataDir, id)
    else await rm(join(dataDir, name), { force: true })
  }
  return published ? join(dataDir, FIRST_START_FILE) : null
}

/** Secrets of another database in the same directory do not work here, but somebody may still need them there. */
export async function setAsideForeignSecrets(dataDir: string, installationId: string): Promise<void> {
  const owner = await installationOf(dataDir)
  if (owner === undefined || owner === installationId) return
  const name = owner === null ? `first-start.before-${installationId}.json` : `first-start.${owner}.json`
  await renameIfThere(join(dataDir, FIRST_START_FILE), join(dataDir, name))
}

async function publishPending(dataDir: string, installationId: string): Promise<boolean> {
  await setAsideForeignSecrets(dataDir, installationId)
  const moved = await renameIfThere(join(dataDir, pendingName(installationId)), join(dataDir, FIRST_START_FILE))
  if (moved) await syncDirectory(dataDir)
  return moved
}

function pendingName(installationId: string): string {
  return `first-start.${installationId}.pending`
}

/** Undefined: no file. Null: a file that does not say. */
async function installationOf(dataDir: string): Promise<string | null | undefined> {
  let text: string
  try {
    text = await readFile(join(dataDir, FIRST_START_FILE), 'utf8')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : null
  }
  try {
    const id: unknown = JSON.parse(text).installation_id
    return typeof id === 'string' && /^[0-9a-f-]{36}$/.test(id) ? id : null
  } catch {
    return null
  }
}

async function writeDurably(dataDir: string, name: string, secrets: FirstStartSecrets): Promise<void> {
  const path = join(dataDir, name)
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | (O_NOFOLLOW ?? 0), 0o600)
  try {
    await chmod(path, 0o600)
    await file.writeFile(`${JSON.stringify(secrets, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await syncDirectory(dataDir)
}

async function syncDirectory(dataDir: string): Promise<void> {
  // Windows cannot open a directory; there the rename is durable by itself.
  if (process.platform === 'win32') return
  const directory = await open(dataDir, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function namesIn(dataDir: string): Promise<string[]> {
  try {
    return await readdir(dataDir)
  } catch {
    return []
  }
}

async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
