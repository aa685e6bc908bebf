import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { postgresUnavailable, startPostgres } from '../support/postgres.ts'
import { tempDir } from '../support/temp-dir.ts'
import { hasEnded } from './mini-clone.ts'

const KEEPER = fileURLToPath(new URL('../support/postgres-keeper.ts', import.meta.url))
const unavailable = postgresUnavailable()

async function ask(url: string, question: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query({ text: question, rowMode: 'array' })
  await client.end()
  return rows[0]?.[0]
}

/** What the server made for its data, which may lie in memory. */
async function placeOf(url: string): Promise<string> {
  return dirname(String(await ask(url, 'show data_directory')))
}

/** A keeper whose other files lie where the test can look at them. */
async function startKeeper(t: TestContext, directory: string): Promise<{ keeper: ChildProcess; url: string }> {
  const env = { ...process.env, TMPDIR: directory }
  const keeper = spawn(process.execPath, [KEEPER], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => keeper.stdin.destroy())
  const [line] = await once(createInterface({ input: keeper.stdout }), 'line')
  return { keeper, url: JSON.parse(line).url }
}

function openTempDir(): string {
  const directory = tempDir()
  chmodSync(directory, 0o755) // the server may run as another user
  return directory
}

describe('PostgreSQL for tests', { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
  test('is the real one, in a supported version, and sorts as an operator would have it', async () => {
    const server = await startPostgres()
    assert.ok(Number(await ask(server.url, 'show server_version_num')) >= 150_000)
    assert.equal(await ask(server.url, `select 'a' < 'B'`), true)
    await server.stop()
    await assert.rejects(ask(server.url, 'select 1'), /ECONNREFUSED/)
  })

  test('ends and leaves no file when the tests are over, however they ended', async (t) => {
    const directory = openTempDir()
    const { keeper, url } = await startKeeper(t, directory)
    assert.equal(await ask(url, 'select 1'), 1)
    const place = await placeOf(url)
    assert.ok(existsSync(place))
    keeper.stdin?.destroy()
    await once(keeper, 'exit')
    assert.deepEqual(readdirSync(directory), [])
    assert.equal(existsSync(place), false)
    await assert.rejects(ask(url, 'select 1'), /ECONNREFUSED/)
  })

  test('clears away what a killed run has left', async (t) => {
    const directory = openTempDir()
    const first = await startKeeper(t, directory)
    const place = await placeOf(first.url)
    const left = [place, ...readdirSync(directory).map((name) => join(directory, name))]
    const postmaster = Number(readFileSync(join(place, 'data/postmaster.pid'), 'utf8').split('\n')[0])
    first.keeper.kill('SIGKILL')
    await once(first.keeper, 'exit')
    const second = await startKeeper(t, directory)
    assert.deepEqual(
      left.filter((path) => existsSync(path)),
      [],
    )
    await hasEnded(postmaster)
    second.keeper.stdin?.destroy()
    await once(second.keeper, 'exit')
    assert.deepEqual(readdirSync(directory), [])
  })
})
