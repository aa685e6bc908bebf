/** A process that is killed in the middle of its first start, at the stage its argument names. */
import { firstStart } from '../../src/first-start.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import type { Place } from './each-database.ts'
import { firstStartSettings } from './identity.ts'
import { silentLogger } from './silent-logger.ts'

const { place, stage } = JSON.parse(process.argv[2] as string) as { place: Place; stage: string }

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('unreachable')
}

const [clock, log] = [new SystemClock(), silentLogger()]
const db = await openDatabase({ ...place, clock, log })
const dying: Pick<Database, 'write'> = {
  async write<T>(work: (tx: Transaction) => Promise<T>) {
    if (stage === 'before the transaction') die()
    await db.write(async (tx) => {
      await work(tx)
      if (stage === 'before the commit') die()
    })
    die()
  },
}
const proxy = new Proxy(db, {
  get(target, name) {
    if (name === 'write') return dying.write
    const value = Reflect.get(target, name)
    return typeof value === 'function' ? value.bind(target) : value
  },
})
await firstStart({ db: proxy, clock, log, settings: firstStartSettings({}, place.dataDir), mode: 'serve' })
