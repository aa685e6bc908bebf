import { fileURLToPath } from 'node:url'
import { benchDirectory } from '../bench-directory.ts'
import { loadGet } from '../load.ts'
import { median, type Scenario } from '../scenario.ts'
import { start, startProduct } from '../server-process.ts'

const ROUNDS = 6
const SECONDS = 2
const CONNECTIONS = 64
const SECRETS = {
  COMMONPLACE_ADMIN_TOKEN: 'bench-administrator-token-0123456789abcdef',
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
    const dataDir = benchDirectory()
    await (await startProduct(dataDir, SECRETS)).stop()
    const server = await start([YARDSTICK, dataDir], /(http:\S+)/)
    const rates: Record<string, number[]> = { public: [], token: [], 'key pair': [] }
    // The first round only warms up. The same headers are sent to all: it is the judging of them that is measured.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, kept] of Object.entries(rates)) {
        const url = `${server.url}/yardstick/${name === 'public' ? 'public' : 'signed_in'}`
        const headers = CREDENTIALS[name] ?? (CREDENTIALS.token as Record<string, string>)
        const rate = await loadGet({ url, seconds: round === 0 ? 1 : SECONDS, connections: CONNECTIONS, headers })
        if (round > 0) kept.push(rate)
      }
      if (round > 0) {
        const last = Object.entries(rates).map(([name, kept]) => `${name} ${Math.round(kept.at(-1) as number)}`)
        say(`round ${round} of ${ROUNDS}: ${last.join(', ')} requests/s`)
      }
    }
    await server.stop()
    const cost = (name: string) =>
      100 - median((rates[name] as number[]).map((rate, round) => (100 * rate) / (rates.public?.[round] as number)))
    return {
      columns: ['credentials', 'requests/s', 'cost in %'],
      rows: Object.entries(rates).map(([name, kept]) => [name, median(kept), name === 'public' ? 0 : cost(name)]),
      targets: ['token', 'key pair'].map((name) => ({
        name: `cost of a request with a ${name}`,
        value: cost(name),
        unit: '%',
        below: 10,
      })),
      details: rates,
    }
  },
}
