import type { Migration } from '../storage/migrations/index.ts'
import { madeByNewerVersion, unreadable } from './backup-errors.ts'
import type { DumpHeader } from './dump-format.ts'

/** The migrations that make the schema of a dump; refuses one that this version does not know. */
export function migrationsOf(
  file: string,
  header: Pick<DumpHeader, 'schema' | 'migrations'>,
  known: readonly Migration[],
): readonly Migration[] {
  if (header.schema > known.length) throw madeByNewerVersion(file, header.schema, known.length)
  const needed = known.slice(0, header.schema)
  const stranger = header.migrations.find((name, index) => needed[index]?.name !== name)
  if (stranger !== undefined || header.migrations.length !== needed.length) {
    throw unreadable(
      `The backup ${file} has an unknown schema (step "${stranger ?? 'missing'}"): restore it with the version that made it`,
    )
  }
  return needed
}
