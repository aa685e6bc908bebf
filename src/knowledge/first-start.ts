import type { Micros } from '../platform/clock/clock.ts'
import { newId } from '../platform/ids/uuid.ts'
import type { Transaction } from '../platform/storage/database.ts'
import { insertProject } from './project/store-projects.ts'

/** The project that is there from the beginning, so that a note can be written at once. */
export async function createMainProject(tx: Transaction, now: Micros): Promise<void> {
  await insertProject(tx, {
    external_id: newId(),
    name: 'main',
    name_folded: 'main',
    permalink: 'main',
    path: '/main',
    is_default: 1,
    created_at: now,
    modified_at: now,
  })
}
