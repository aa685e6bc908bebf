import { type Kysely, sql } from 'kysely'

/** A callback runs once at a time: what a replay finds of one that is running waits here for the end of that run. */
export const name = 'waiting-replays'

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  await sql
    .raw(
      `create table callback_waiting_replays (
        replay_id text not null,
        run_number bigint not null,
        primary key (replay_id, run_number)
      ) ${engine === 'sqlite' ? 'without rowid' : ''}`,
    )
    .execute(db)
}
