// Embeds notes until it is killed, and says after every change of the database that there was one.
// Run by vector-sync.test.ts: `node vector-embedder.ts '<JSON of Place>' <minutes that it is later> <changes>`. After so many changes it
// does no more; 0: it goes on until the kill comes, wherever it is then.
import { writeSync } from 'node:fs'
import { holdProcess, SystemClock } from '../../src/platform/clock/clock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { RunningSync } from '../knowledge/semantic-world.ts'
import type { Place } from '../support/each-database.ts'
import { LaterClock } from '../support/later-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'

// A server has a port that keeps it there; this one waits for the kill, also when everything is done.
holdProcess()
const place: Place = JSON.parse(process.argv[2] as string)
const clock = new LaterClock(Number(process.argv[3]))
let left = Number(process.argv[4])
const db = await openDatabase({ ...place, poolSize: 2, clock: new SystemClock(), log: silentLogger() })
const write = db.write.bind(db)
db.write = async (...parameters) => {
  const answer = await write(...(parameters as Parameters<typeof write>))
  // NOTE Synchronous: what was said before the kill is in the pipe.
  writeSync(1, 'written\n')
  if (--left === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  return answer as never
}
const running = new RunningSync(db, {}, { sync: clock })
await running.sync.settled()
writeSync(1, 'done\n')
