import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { benchDirectory } from '../bench-directory.ts'
import { loadGet } from '../load.ts'
import { median, type Scenario } from '../scenario.ts'
import { start, startProduct, TOKEN } from '../server-process.ts'

// Short rounds by turns: whatever else the machine does then hits both sides of a ratio.
const ROUNDS = 12
const SECONDS = 1
const CONNECTIONS = 64
const SECRETS = {
  COMMONPLACE_ADMIN_TOKEN: TOKEN,
  COMMONPLACE_API_KEY: '0123456789abcdef0123456789abcdef',
  COMMONPLACE_APPLICATION_KEY: '0123456789abcdef0123456789abcdef01234567',
}
const YARDSTICK = fileURLToPath(new URL('../yardstick-server.ts', import.meta.url))

const CREDENTIALS: Record<string, Record<string, string>> = {
  token: { authorization: `Bearer ${SECRETS.COMMONPLACE_ADMIN_TOKEN}` },
  'key pair': { 'x-api-key': SECRETS.COMMONPLACE_API_KEY, 'x-application-key': SECRETS.COMMONPLACE_APPLICATION_KEY },
}

export const scenario: Scenario = {
  description: `a small JSON route behind credentials against the same route without, ${CONNECTIONS} connections`,
  async run(say) {
    // Where others compute, the dearer route loses less: a figure from a busy machine flatters.
    const [loadBefore] = loadavg()
    const dataDir = benchDirectory()
    await (await startProduct(dataDir, SECRETS)).stop()
    const server = await start([YARDSTICK, dataDir], /(http:\S+)/)
    // The same headers are sent to both routes: it is the judging of them that is measured, not their length.
    const rate = (route: string, name: string) =>
      loadGet({
        url: `${server.url}/yardstick/${route}`,
        seconds: SECONDS,
        connections: CONNECTIONS,
        headers: CREDENTIALS[name] as Record<string, string>,
      })
    const names = Object.keys(CREDENTIALS)
    const open: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]))
    const judged: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]))
    // The first round only warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const name of names) {
        const isOpenFirst = round % 2 === 0
        const first = await rate(isOpenFirst ? 'public' : 'signed_in', name)
        const second = await rate(isOpenFirst ? 'signed_in' : 'public', name)
        if (round === 0) continue
        open[name]?.push(isOpenFirst ? first : second)
        judged[name]?.push(isOpenFirst ? second : first)
      }
      if (round === 0) continue
      const last = names.map(
        (name) => `${name} ${Math.round(judged[name]?.at(-1) ?? 0)} of ${Math.round(open[name]?.at(-1) ?? 0)}`,
      )
      say(`round ${round} of ${ROUNDS}: ${last.join(', ')} requests/s`)
    }
    await server.stop()
    const cost = (name: string) =>
      100 - median((judged[name] as number[]).map((one, round) => (100 * one) / (open[name]?.[round] as number)))
    return {
      columns: ['credentials', 'not judged, requests/s', 'judged, requests/s', 'cost in %'],
      rows: names.map((name) => [name, median(open[name] as number[]), median(judged[name] as number[]), cost(name)]),
      targets: names.map((name) => ({
        name: `cost of a request with a ${name}`,
        value: cost(name),
        unit: '%',
        below: 10,
      })),
      details: { open, judged, loadBefore },
    }
  },
}
