import { benchDirectory } from '../bench-directory.ts'
import { median, type Scenario } from '../scenario.ts'
import { startProduct } from '../server-process.ts'

const STARTS = 7

export const scenario: Scenario = {
  description: 'from the start of the process to listening, on an existing database',
  async run(say) {
    const dataDir = benchDirectory()
    const first = await startProduct(dataDir)
    await first.stop()
    const times: number[] = []
    for (let n = 0; n < STARTS; n++) {
      const server = await startProduct(dataDir)
      times.push(server.startMs)
      await server.stop()
      say(`start ${n + 1} of ${STARTS}: ${Math.round(server.startMs)} ms`)
    }
    return {
      columns: ['start', 'ms'],
      rows: [
        ['empty database', first.startMs],
        ['fastest', Math.min(...times)],
        ['median', median(times)],
        ['slowest', Math.max(...times)],
      ],
      targets: [{ name: 'start on an existing database', value: median(times), unit: 'ms', below: 1_000 }],
      details: { times },
    }
  },
}
