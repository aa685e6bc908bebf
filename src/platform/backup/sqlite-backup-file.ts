import { mkdtempSync, statSync } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Migration } from '../storage/migrations/index.ts'
import { SqliteConnection } from '../storage/sqlite-connection.ts'
import { diskTrouble, toStorageError } from '../storage/storage-errors.ts'
import { damaged, fileTrouble, madeByNewerVersion, notABackup, unreadable } from './backup-errors.ts'
import { catalogOf } from './catalog.ts'
import type { RowCounts } from './count-rows.ts'
import { migrationsOf } from './migrations-of.ts'
import { removeOnInterrupt } from './place-file.ts'
import { checkReferences, verifySqlite } from './sqlite-snapshot.ts'

export interface SqliteBackupContents {
  schema: number
  rows: RowCounts
}

/** Looks at a copy: opening a database writes to it, and a backup is nobody's to change. */
export async function checkSqliteBackup(file: string, known: readonly Migration[]): Promise<SqliteBackupContents> {
  const directory = mkdtempSync(join(tmpdir(), 'commonplace-check-'))
  const copy = join(directory, 'copy.db')
  const cleanUp = removeOnInterrupt([directory])
  try {
    return await takeSqliteBackup(file, copy, known)
  } catch (error) {
    throw fileTrouble(`${copy}, whose place TMPDIR says,`, 'written', error)
  } finally {
    cleanUp()
  }
}

/** Copies a backup that is a SQLite file and refuses it unless it is whole and of a version that we know. */
export async function takeSqliteBackup(
  file: string,
  target: string,
  known: readonly Migration[],
): Promise<SqliteBackupContents> {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw unreadable(
      `${file} is a database in use, not a backup (${file}-wal belongs to it): make one with "commonplace backup"`,
    )
  }
  try {
    // An interrupt is heard meanwhile; SQLite's own look at the file lets nobody in.
    await copyFile(file, target)
    // It has the rights of the backup, which may be anybody's to read and nobody's to write.
    await chmod(target, 0o600)
    await nextTurn()
  } catch (error) {
    // What is full, or takes nothing, is the disk of the copy.
    const { code } = error as NodeJS.ErrnoException
    throw code === 'EROFS' || diskTrouble(error) === 'full' ? error : fileTrouble(file, 'read', error)
  }
  try {
    const applied = appliedMigrations(target, file)
    if (applied.length === 0) throw notABackup(file)
    if (applied.length > known.length) throw madeByNewerVersion(file, applied.length, known.length)
    const migrations = migrationsOf(file, { schema: applied.length, migrations: applied }, known)
    const rows = verifySqlite(target, await catalogOf(migrations), (what) => damaged(file, what))
    return { schema: applied.length, rows }
  } catch (error) {
    const { code, errcode } = error as { code?: string; errcode?: number }
    const isDamage = code === 'ERR_SQLITE_ERROR' && [1, 11, 26].includes((errcode ?? 0) & 0xff)
    throw isDamage ? damaged(file, (error as Error).message, error) : toStorageError(error)
  }
}

function appliedMigrations(copy: string, file: string): string[] {
  const connection = new SqliteConnection(copy, { readOnly: false })
  try {
    checkReferences(connection, (what) => damaged(file, what))
    const [table] = connection.rows(`select 1 from sqlite_master where name = 'schema_migrations'`, [])
    if (table === undefined) return []
    const rows = connection.rows('select name from schema_migrations order by number', []) as { name: string }[]
    return rows.map(({ name }) => name)
  } finally {
    connection.close()
  }
}
