import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { UserId } from '../../platform/auth/principal.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'
import type { Day } from './weeks.ts'

const insertLogIn = statement<{ day: Day; user_id: string }>((query, p) =>
  query
    .insertInto('log_in_days')
    .values({ day: p('day'), user_id: p('user_id') })
    .onConflict((conflict) => conflict.doNothing()),
)

export async function insertLogIns(tx: Transaction, logIns: readonly { day: Day; user_id: string }[]): Promise<void> {
  await tx.changeEach(insertLogIn, logIns)
}

// On SQLite nothing else happens while a part is read: some ten milliseconds.
const USERS_AT_A_TIME = 2_000

interface Part {
  looked: number
  last: string | null
}

/** Reads on behind the last user of each part. There may be very many: others have their turn after each part. */
async function eachPart<P extends Part>(
  readPart: (after: string) => Promise<P | undefined>,
  take: (part: P) => void,
  atATime: number,
): Promise<void> {
  for (let after: string | null = ''; after !== null; ) {
    const part = await readPart(after)
    if (part === undefined) return
    take(part)
    after = Number(part.looked) < atATime ? null : part.last
    await nextTurn()
  }
}

/** Different users in the days from `first` to `last`: day by day, those who were not there on an earlier one. */
export async function countLogIns(reader: Reader, first: Day, last: Day, atATime = USERS_AT_A_TIME): Promise<number> {
  let users = 0
  for (let day = first; day <= last; day++) {
    await eachPart(
      async (after) => {
        const { rows } = await sql<Part & { added: number | null }>`
          select count(*) as looked, max(part.user_id) as last, sum(case when exists (
            select 1 from log_in_days l where l.user_id = part.user_id and l.day >= ${first} and l.day < ${day}
          ) then 0 else 1 end) as added
          from (
            select user_id from log_in_days where day = ${day} and user_id > ${after}
            order by user_id limit ${atATime}
          ) as part`.execute(reader.query)
        return rows[0]
      },
      ({ added }) => {
        users += Number(added ?? 0)
      },
      atATime,
    )
  }
  return users
}

export interface RecentLogIns {
  /** Since the first day of the week: different users, whatever became of them. */
  thisWeek: number
  /** Since those days: users who still count as users. */
  activeMonth: number
  activeHalfyear: number
}

/** Steps from user to user in the index and looks at the last day of each, instead of reading all their days. */
export async function readRecentLogIns(
  reader: Reader,
  { monday, month, halfyear }: { monday: Day; month: Day; halfyear: Day },
  atATime = USERS_AT_A_TIME,
): Promise<RecentLogIns> {
  const counts: RecentLogIns = { thisWeek: 0, activeMonth: 0, activeHalfyear: 0 }
  await eachPart(
    async (after) => {
      const { rows } = await sql<Part & { [Count in keyof RecentLogIns]: number | null }>`
        with recursive seen (user_id, place) as (
          select (select min(user_id) from log_in_days where user_id > ${after}), 1
          union all
          select (select min(next.user_id) from log_in_days next where next.user_id > seen.user_id), seen.place + 1
          from seen where seen.user_id is not null and seen.place < ${atATime}
        ),
        last (user_id, day) as (
          select user_id, (select max(day) from log_in_days l where l.user_id = seen.user_id)
          from seen where user_id is not null
        )
        select
          count(*) as looked,
          max(last.user_id) as last,
          sum(case when last.day >= ${monday} then 1 else 0 end) as "thisWeek",
          sum(case when last.day >= ${month} and u.id is not null then 1 else 0 end) as "activeMonth",
          sum(case when last.day >= ${halfyear} and u.id is not null then 1 else 0 end) as "activeHalfyear"
        from last left join users u
          on u.id = last.user_id and u.status <> 'Disabled' and u.anonymized_at is null and u.service_account = 0`.execute(
        reader.query,
      )
      return rows[0]
    },
    (part) => {
      counts.thisWeek += Number(part.thisWeek ?? 0)
      counts.activeMonth += Number(part.activeMonth ?? 0)
      counts.activeHalfyear += Number(part.activeHalfyear ?? 0)
    },
    atATime,
  )
  return counts
}

export async function logInDaysOf(reader: Reader, userId: UserId): Promise<Day[]> {
  const rows = await reader.query
    .selectFrom('log_in_days')
    .select('day')
    .where('user_id', '=', userId)
    .orderBy('day')
    .execute()
  return rows.map(({ day }) => day)
}

/** The days stay, so that totals do; nobody can tell whose they were. */
export async function renameLogIns(tx: Transaction, userId: UserId, to: string): Promise<void> {
  await tx.query.updateTable('log_in_days').set({ user_id: to }).where('user_id', '=', userId).execute()
}

export async function deleteLogInsOf(tx: Transaction, userId: UserId): Promise<void> {
  await tx.query.deleteFrom('log_in_days').where('user_id', '=', userId).execute()
}

export async function isAnonymized(reader: Reader, userId: UserId): Promise<boolean> {
  const row = await reader.query.selectFrom('users').select('anonymized_at').where('id', '=', userId).executeTakeFirst()
  return row !== undefined && row.anonymized_at !== null
}

/** How many were removed, at most `limit`. */
export async function deleteLogInsBefore(tx: Transaction, day: Day, limit: number): Promise<number> {
  const rows = await tx.query
    .selectFrom('log_in_days')
    .select(['day', 'user_id'])
    .where('day', '<', day)
    .orderBy('day')
    .limit(limit)
    .execute()
  await tx.changeEach(deleteLogIn, rows)
  return rows.length
}

const deleteLogIn = statement<{ day: Day; user_id: string }>((query, p) =>
  query.deleteFrom('log_in_days').where('day', '=', p('day')).where('user_id', '=', p('user_id')),
)
