import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresUnavailable } from '../../support/postgres.ts'
import { startServer } from '../../support/start-server.ts'
import { takeAway } from '../../support/take-away.ts'

const unavailable = postgresUnavailable()

// What is tried about once a second while storage is away; the next tries are told to those who look closely.
const TRIED_AGAIN = [
  'due callbacks cannot be looked for',
  'the PostgreSQL listener has no connection',
  'a worker failed',
]

test('the log says once that PostgreSQL is away, for each part that tries until it is back, and once that it is', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, async () => {
  await using server = await startServer({
    mode: 'serve',
    engine: 'postgres',
    env: { COMMONPLACE_LOG_LEVEL: 'debug' },
  })
  const back = await takeAway(server.databaseUrl as string)
  for (const message of TRIED_AGAIN) await server.says(new RegExp(`"level":"debug".*${message}`))
  await back()
  for (const part of ['due callbacks are looked for', 'the PostgreSQL listener has a connection', 'storage answers']) {
    await server.says(new RegExp(`"level":"info".*${part} again`))
  }
  const lines = server
    .output()
    .split('\n')
    .filter((line) => /"level":"(warn|error)"/.test(line))
  for (const message of TRIED_AGAIN) {
    assert.equal(lines.filter((line) => line.includes(message)).length, 1, message)
  }
})
