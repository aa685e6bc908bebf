import { after, before, describe } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import type { StartServerOptions } from '../support/start-server.ts'
import { NotesApi } from './notes-api.ts'

/** Describes the suite twice: on a server over SQLite and on one over PostgreSQL. */
export function eachServer(
  name: string,
  suite: (notes: () => NotesApi) => void,
  options: Pick<StartServerOptions, 'env'> = {},
): void {
  for (const engine of ['sqlite', 'postgres'] as const) {
    const unavailable = engine === 'postgres' ? postgresUnavailable() : null
    const title = `${name} (${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`
    describe(title, { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
      let notes: NotesApi
      before(async () => {
        notes = await NotesApi.start({ ...options, engine })
      })
      after(() => notes.server.stop())
      suite(() => notes)
    })
  }
}
