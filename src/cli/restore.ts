import { resolve } from 'node:path'
import { Command } from 'commander'
import { writeOutdatedRows } from '../knowledge/index.ts'
import { checkBackup, restoreBackup } from '../platform/backup/restore.ts'
import type { RestoreOptions, RestoreProgress, RestoreResult } from '../platform/backup/restore-options.ts'
import { SystemClock } from '../platform/clock/clock.ts'
import { createLogger } from '../platform/logging/logger.ts'
import { openDatabase } from '../platform/storage/open.ts'
import { loadSettings } from '../settings.ts'
import { printJson } from './print-json.ts'
import { Progress } from './progress.ts'
import { flagsOf, withStorageFlags } from './settings-options.ts'

export function restoreCommand(): Command {
  return withStorageFlags(new Command('restore'))
    .description('fill an empty database from a backup; a dump goes into SQLite and PostgreSQL alike')
    .argument('<file>', 'what "commonplace backup" wrote')
    .option('--check', 'only read the backup and say whether it is whole')
    .option('--json', 'answer as JSON')
    .action(async (name: string, flags: { check?: boolean; json?: boolean }, command: Command) => {
      const file = resolve(name)
      const clock = new SystemClock()
      const progress = new Progress(clock)
      const onProgress: RestoreProgress = (step, done, total) => progress.report(step, done, total, 'bytes')
      const { settings } = await loadSettings({ mode: 'cli', ...flagsOf(command) })
      const { data_dir: dataDir, database_url: databaseUrl } = settings.storage
      const log = createLogger({ level: 'warn', format: 'readable', destination: process.stderr })
      const work = flags.check
        ? checkBackup({ file, onProgress })
        : restore({ file, dataDir, databaseUrl, clock, log, onProgress }, progress)
      const result = await work.finally(() => progress.end())
      if (flags.json) return printJson(result)
      console.log(flags.check ? `${file} is whole: ${summary(result)}` : `restored ${summary(result)}`)
    })
}

/**
 * A dump has no index of words. On PostgreSQL it is made here: a server that starts meanwhile, or after an interrupt, does the rest,
 * but until then its searches would find only a part and not say so. On SQLite they wait for it.
 */
async function restore(options: RestoreOptions, progress: Progress): Promise<RestoreResult> {
  const result = await restoreBackup(options)
  if (!options.databaseUrl) return result
  try {
    await using db = await openDatabase({ ...options, poolSize: 2 })
    await writeOutdatedRows(db, {
      onProgress: (written) => progress.report('indexing', written, result.rows.notes ?? 0),
    })
  } catch (error) {
    progress.end()
    // Everything is restored, and a second try would be refused.
    options.log.warn({ err: error }, 'the index of words is not complete: the server makes the rest when it starts')
  }
  return result
}

function summary({ rows, schema }: RestoreResult): string {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
  return `${total.toLocaleString('en-US')} rows in ${Object.keys(rows).length} tables (schema ${schema})`
}
