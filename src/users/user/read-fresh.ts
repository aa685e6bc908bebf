import type { Database, Reader } from '../../platform/storage/database.ts'

/** The state of the data that was to be read is older than one that is remembered. */
export class OldSnapshot extends Error {
  constructor() {
    super('The snapshot is older than what is remembered: read again')
  }
}

/** `Database.read` for what remembers earlier answers: begins again when somebody with a newer state was faster. */
export async function readFresh<T>(db: Pick<Database, 'read'>, work: (snapshot: Reader) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await db.read(work)
    } catch (error) {
      if (!(error instanceof OldSnapshot)) throw error
    }
  }
}
