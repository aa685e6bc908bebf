import { sql } from 'kysely'
import type { Micros } from '../clock/clock.ts'
import type { Transaction } from '../storage/database.ts'
import { statement } from '../storage/statement.ts'

export interface RateWindowsTable {
  bucket: string
  subject: string
  window_start: number
  used: number
}

declare module '../storage/tables.ts' {
  interface Tables {
    rate_windows: RateWindowsTable
  }
}

export interface WindowKey {
  bucket: string
  subject: string
  windowStart: Micros
}

/** Counts only what fits: no row comes back when the limit would be passed, and nothing was counted then. */
export const spendWindow = statement<WindowKey & { cost: number; limit: number }, { used: number }>((query, p) =>
  query
    .insertInto('rate_windows')
    .values({ bucket: p('bucket'), subject: p('subject'), window_start: p('windowStart'), used: p('cost') })
    .onConflict((conflict) =>
      conflict
        .columns(['bucket', 'subject', 'window_start'])
        .doUpdateSet({ used: sql<number>`rate_windows.used + excluded.used` })
        .where(sql<boolean>`rate_windows.used + excluded.used <= ${p('limit')}`),
    )
    .returning('used'),
)

export const readWindow = statement<WindowKey, { used: number }>((query, p) =>
  query
    .selectFrom('rate_windows')
    .select('used')
    .where('bucket', '=', p('bucket'))
    .where('subject', '=', p('subject'))
    .where('window_start', '=', p('windowStart')),
)

export const purgeWindows = statement<{ bucket: string; before: Micros }>((query, p) =>
  query.deleteFrom('rate_windows').where('bucket', '=', p('bucket')).where('window_start', '<', p('before')),
)

/** In every bucket: whoever they count is to be forgotten. */
export async function deleteWindowsOf(tx: Transaction, subjects: readonly string[]): Promise<void> {
  for (let start = 0; start < subjects.length; start += 500) {
    const some = subjects.slice(start, start + 500)
    await tx.query.deleteFrom('rate_windows').where('subject', 'in', some).execute()
  }
}
