import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { createBackup } from '../../src/platform/backup/backup.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

const RESTORE = new URL('../../src/platform/backup/restore.ts', import.meta.url).href
const CLOCK = new URL('../../src/platform/clock/clock.ts', import.meta.url).href
const LOGGER = new URL('../support/silent-logger.ts', import.meta.url).href

/** Runs the code in a process of its own; how that ended. */
async function endOf(code: string, temporary: string, signal = 'SIGINT'): Promise<unknown[]> {
  const modules = `
    const { checkBackup, restoreBackup } = await import('${RESTORE}')
    const { SystemClock } = await import('${CLOCK}')
    const { silentLogger } = await import('${LOGGER}')
    const interrupt = () => process.kill(process.pid, '${signal}')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', `${modules}\n${code}`], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return once(child, 'exit')
}

describe('an interrupt', () => {
  const file = join(tempDir(), 'backup.db')

  before(async () => {
    const options = { clock: new SystemClock(), log: silentLogger() }
    await using db = await openDatabase({ dataDir: tempDir(), ...options })
    await migrate(db, options)
    await createBackup({ db, file, clock: options.clock })
  })

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    test(`of a restore leaves nothing of the data behind (${signal})`, async () => {
      const dataDir = tempDir()
      const code = `
        const options = { file: ${JSON.stringify(file)}, dataDir: ${JSON.stringify(dataDir)} }
        await restoreBackup({ ...options, clock: new SystemClock(), log: silentLogger(), onProgress: interrupt })`
      assert.deepEqual(await endOf(code, tempDir(), signal), [null, signal])
      assert.deepEqual(
        readdirSync(dataDir).filter((name) => !/^commonplace\.(lock|pid)/.test(name)),
        [],
      )
    })
  }

  test('of a look at a backup leaves no copy of it behind', async () => {
    const temporary = tempDir()
    const code = `
      const looking = checkBackup({ file: ${JSON.stringify(file)} })
      interrupt()
      await looking`
    assert.deepEqual(await endOf(code, temporary), [null, 'SIGINT'])
    assert.deepEqual(readdirSync(temporary), [])
  })
})
