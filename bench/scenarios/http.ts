import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { benchDirectory } from '../bench-directory.ts'
import { loadGet } from '../load.ts'
import { median, type Scenario } from '../scenario.ts'
import { start, startProduct } from '../server-process.ts'

const ROUNDS = 4
const SECONDS = 3
const CONNECTIONS = 64
const ROUTE = '/livez'

export const scenario: Scenario = {
  description: `GET ${ROUTE} of the server against bare node:http with the same bytes, ${CONNECTIONS} connections`,
  async run(say) {
    const product = await startProduct(benchDirectory())
    const answer = await capture(product.url + ROUTE)
    const bare = await start(
      [fileURLToPath(new URL('../bare-server.ts', import.meta.url)), JSON.stringify(answer)],
      /(http:\S+)/,
    )
    const load = (url: string, seconds: number) => loadGet({ url, seconds, connections: CONNECTIONS, headers: {} })
    const ours: number[] = []
    const theirs: number[] = []
    // The first round only warms both up.
    for (let round = 0; round <= ROUNDS; round++) {
      const [our, their] = [
        await load(product.url + ROUTE, round === 0 ? 1 : SECONDS),
        await load(bare.url + ROUTE, round === 0 ? 1 : SECONDS),
      ]
      if (round === 0) continue
      ours.push(our)
      theirs.push(their)
      say(`round ${round} of ${ROUNDS}: ${Math.round(our)} against ${Math.round(their)} requests/s`)
    }
    await Promise.all([product.stop(), bare.stop()])
    const share = median(ours.map((our, round) => (100 * our) / (theirs[round] as number)))
    return {
      columns: ['server', 'requests/s', '% of bare'],
      rows: [
        ['node:http', median(theirs), 100],
        ['commonplace', median(ours), share],
      ],
      targets: [{ name: 'share of bare node:http', value: share, unit: '%', atLeast: 70 }],
      details: { ours, theirs, headers: answer.headers, body: answer.body },
    }
  },
}

/** What the server sends, without what node:http adds by itself. */
function capture(url: string): Promise<{ headers: string[]; body: string }> {
  return new Promise((resolve, reject) => {
    request(url, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text) => (body += text))
      response.once('end', () => {
        const pairs = response.rawHeaders.flatMap((name, index, all) =>
          index % 2 === 0 ? [[name, all[index + 1] as string]] : [],
        )
        const own = pairs.filter(([name]) => !/^(date|connection|keep-alive|transfer-encoding)$/i.test(name as string))
        resolve({ headers: own.flat(), body })
      })
    })
      .once('error', reject)
      .end()
  })
}
