import { readFileSync } from 'node:fs'
import { benchDirectory } from '../bench-directory.ts'
import { startReceiver } from '../callback-deliveries.ts'
import { fillCallbacks, LOCAL } from '../fill-callbacks.ts'
import { median, type Scenario } from '../scenario.ts'
import { residentMb, type ServerProcess, startProduct, TOKEN } from '../server-process.ts'

const FEW = 10_000
const MANY = 1_000_000
const DUE = 20_000
const ROUNDS = 3
const IDLE_SECONDS = 10
const TICKS_PER_SECOND = 100
const ENV = { COMMONPLACE_ADMIN_TOKEN: TOKEN, ...LOCAL }

interface Figures {
  startMs: number
  idlePercent: number
  rssMb: number
  rate: number
}

export const scenario: Scenario = {
  description: `a server with ${MANY} callbacks that wait against one with ${FEW}, on SQLite`,
  async run(say) {
    const receiver = await startReceiver()
    const directories = { few: benchDirectory(), many: benchDirectory() }
    for (const [name, count] of [['few', FEW] as const, ['many', MANY] as const]) {
      await (await startProduct(directories[name], ENV)).stop()
      say(`${count} callbacks that wait`)
      await fillCallbacks(directories[name], count, `${receiver.url}waiting`, { isWaiting: true })
    }
    const measure = async (directory: string): Promise<Figures> => {
      const idle = await whileIdle(directory)
      await fillCallbacks(directory, DUE, receiver.url)
      const product = await startProduct(directory, ENV)
      const { firstMs, lastMs } = await receiver.until(DUE)
      await product.stop()
      await receiver.reset()
      return { ...idle, rate: (DUE / (lastMs - firstMs)) * 1_000 }
    }
    const figures = { few: [] as Figures[], many: [] as Figures[] }
    for (let round = 0; round < ROUNDS; round++) {
      figures.few.push(await measure(directories.few))
      figures.many.push(await measure(directories.many))
      say(`round ${round + 1} of ${ROUNDS}`)
    }
    await receiver.stop()
    const [few, many] = [summary(figures.few), summary(figures.many)]
    return {
      columns: ['waiting', 'start ms', 'idle CPU %', 'resident MB', 'deliveries/s'],
      rows: [
        [FEW, few.startMs, few.idlePercent, few.rssMb, few.rate],
        [MANY, many.startMs, many.idlePercent, many.rssMb, many.rate],
      ],
      targets: [
        { name: 'rate with a million waiting', value: (100 * many.rate) / few.rate, unit: '%', atLeast: 80 },
        { name: 'processor time while nothing is due', value: many.idlePercent, unit: '%', below: 1 },
        { name: 'start with a million waiting', value: many.startMs, unit: 'ms', below: 2_000 },
        { name: 'memory with a million waiting', value: many.rssMb, unit: 'MB', below: 300 },
      ],
      details: { figures, idleSeconds: IDLE_SECONDS },
    }
  },
}

async function whileIdle(directory: string): Promise<Omit<Figures, 'rate'>> {
  const product = await startProduct(directory, ENV)
  // What a start leaves to do is no part of it.
  await seconds(3)
  const before = ticks(product)
  await seconds(IDLE_SECONDS)
  const idlePercent = ((ticks(product) - before) / TICKS_PER_SECOND / IDLE_SECONDS) * 100
  const rssMb = residentMb(product)
  await product.stop()
  return { startMs: product.startMs, idlePercent, rssMb }
}

function summary(figures: readonly Figures[]): Figures {
  const of = (name: keyof Figures) => median(figures.map((one) => one[name]))
  return { startMs: of('startMs'), idlePercent: of('idlePercent'), rssMb: of('rssMb'), rate: of('rate') }
}

function ticks({ child }: ServerProcess): number {
  const [, facts = ''] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')
  const fields = facts.split(' ')
  return Number(fields[11]) + Number(fields[12])
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1_000))
}
