import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type BackupFormat, createBackup } from '../platform/backup/backup.ts'
import { type Clock, toRfc3339 } from '../platform/clock/clock.ts'
import { printJson } from './print-json.ts'
import { formatBytes, Progress } from './progress.ts'
import { withStorageFlags } from './settings-options.ts'
import { withDatabase } from './with-database.ts'

interface BackupFlags {
  format?: BackupFormat
  force?: boolean
  json?: boolean
}

export function backupCommand(): Command {
  return withStorageFlags(new Command('backup'))
    .description('write everything the database holds to one file; the server may go on running')
    .argument('[file]', 'where to; a name with the date in the working directory unless given', fileName)
    .addOption(
      new Option('--format <format>', 'the SQLite file itself, or a dump that either engine restores').choices([
        'sqlite',
        'dump',
      ]),
    )
    .option('--force', 'replace the file if it exists')
    .option('--json', 'answer as JSON')
    .addHelpText('after', '\nThe file holds every secret of the server: it is readable by its owner only; keep it so.')
    .action((file: string | undefined, flags: BackupFlags, command: Command) =>
      withDatabase(
        command,
        async ({ db, clock }) => {
          const format = flags.format ?? (db.engine === 'sqlite' ? 'sqlite' : 'dump')
          const progress = new Progress(clock)
          const result = await createBackup({
            db,
            clock,
            format,
            file: resolve(file ?? defaultName(clock, format)),
            force: flags.force,
            onProgress: (step, done, total) =>
              progress.report(step, done, total, step === 'verifying' ? 'bytes' : 'count'),
          }).finally(() => progress.end())
          if (flags.json) return printJson(result)
          const rows = Object.values(result.rows).reduce((sum, count) => sum + count, 0)
          console.log(
            `backed up ${rows.toLocaleString('en-US')} rows (schema ${result.schema}) to ${result.file}, ` +
              `${formatBytes(result.bytes)}, verified`,
          )
        },
        // The usual moment for a backup is just before an upgrade.
        { requireSchema: false, withoutIt: 'nothing to back up' },
      ),
    )
}

/** Verified is what lies on a disk, so nothing is streamed. A file that is called so has a folder before its name. */
function fileName(text: string): string {
  if (text !== '-') return text
  throw new InvalidArgumentError('A backup is not written to standard output: name a file.')
}

function defaultName(clock: Clock, format: BackupFormat): string {
  const time = toRfc3339(clock.now()).slice(0, 19).replaceAll(/[-:]/g, '')
  return `commonplace-${time}Z${format === 'sqlite' ? '.db' : '.jsonl.gz'}`
}
