import type { Generated } from 'kysely'
import type { Micros } from '../platform/clock/clock.ts'
import type { Transaction } from '../platform/storage/database.ts'
import type { Flag } from '../platform/storage/tables.ts'

export interface ProjectsTable {
  id: Generated<number>
  external_id: string
  name: string
  /** What makes names unique: they may not differ by case alone. */
  name_folded: string
  permalink: string
  path: string
  is_default: Flag
  created_at: Micros
  modified_at: Micros
}

declare module '../platform/storage/tables.ts' {
  interface Tables {
    projects: ProjectsTable
  }
}

export async function insertProject(tx: Transaction, row: Omit<ProjectsTable, 'id'>): Promise<void> {
  await tx.query.insertInto('projects').values(row).execute()
}
