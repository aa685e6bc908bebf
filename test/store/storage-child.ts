// Another process on the same data, for tests that need a real one: `node storage-child.ts '<JSON of ChildTask>'`.
// It says "ready" when it has what the task is about, and goes on when its standard input ends.
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { lockDataDirectory } from '../../src/platform/storage/data-lock.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase, SQLITE_FILE } from '../../src/platform/storage/open.ts'
import type { Place } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'

export type ChildTask = { place: Place } & (
  | { do: 'migrate' }
  | { do: 'lock directory' }
  | { do: 'try to lock directory'; as?: number }
  | { do: 'hold write lock' }
  | { do: 'write' }
)

const task: ChildTask = JSON.parse(process.argv[2] as string)
const options = { clock: new SystemClock(), log: silentLogger() }

switch (task.do) {
  case 'migrate': {
    say('ready')
    await go()
    await using db = await openDatabase({ ...task.place, ...options })
    say(`migrated ${JSON.stringify(await migrate(db, options))}`)
    break
  }
  case 'lock directory': {
    const lock = lockDataDirectory(task.place.dataDir)
    say('ready')
    await go()
    lock.release()
    break
  }
  case 'try to lock directory': {
    // Only now: everything is loaded, which another user may not be allowed to read.
    if (task.as !== undefined) process.setuid?.(task.as)
    try {
      lockDataDirectory(task.place.dataDir).release()
      say('ready')
    } catch (error) {
      say((error as Error).message)
    }
    break
  }
  case 'hold write lock': {
    const db = new DatabaseSync(`${task.place.dataDir}/${SQLITE_FILE}`)
    db.exec('begin immediate')
    say('ready')
    await go()
    db.exec('commit')
    db.close()
    break
  }
  case 'write': {
    const db = await openDatabase({ ...task.place, ...options })
    say('ready')
    // NOTE Nothing but the write keeps this process alive, as with a command that is run beside a server.
    await db.write((tx) => sql`insert into items (id, value) values ('from the child', 1)`.execute(tx.query))
    say('written')
    await db.close()
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function go(): Promise<void> {
  process.stdin.resume()
  await once(process.stdin, 'end')
  process.stdin.destroy()
}
