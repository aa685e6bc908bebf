import { Command } from 'commander'
import { migrate, schemaVersion } from '../platform/storage/migrate.ts'
import { printJson } from './print-json.ts'
import { withStorageFlags } from './settings-options.ts'
import { withDatabase } from './with-database.ts'

export function migrateCommand(): Command {
  return withStorageFlags(new Command('migrate'))
    .description(
      'bring the database schema to this version (the server does so itself unless storage.auto_migrate is off)',
    )
    .option('--status', 'only say what would be done')
    .option('--json', 'answer as JSON')
    .action(async (options: { status?: boolean; json?: boolean }, command: Command) => {
      await withDatabase(
        command,
        async ({ db, clock, log }) => {
          const before = await schemaVersion(db)
          if (!options.status) {
            await migrate(db, {
              clock,
              log,
              onProgress: (done, total, name) => process.stderr.write(`migrating ${done + 1}/${total}: ${name}\n`),
            })
          }
          const after = await schemaVersion(db)
          if (options.json) return printJson({ before: before.version, ...after })
          if (options.status) return console.log(statusLine(before))
          console.log(
            before.pending.length === 0 ? 'nothing to do' : `done: schema ${before.version} -> ${after.version}`,
          )
        },
        { requireSchema: false, mayCreate: options.status !== true },
      )
    })
}

function statusLine({ version, known, pending }: { version: number; known: number; pending: string[] }): string {
  const todo = pending.length === 0 ? 'up to date' : `pending: ${pending.join(', ')}`
  return `schema ${version} of ${known}, ${todo}`
}
