import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ensureBundle } from '../../scripts/bundle.mjs'
import type { Finding } from '../../src/cli/doctor-finding.ts'
import { startServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { runCommand, startCommand } from './run-command.ts'

async function examine(args: string[], env: Record<string, string> = {}, program?: string) {
  const line = ['doctor', '--json', '--port', '0', '--grpc-port', '0', ...args]
  const { status, stdout, stderr } = await startCommand(line, env, tempDir(), program).result
  assert.notEqual(stdout, '', stderr)
  const { healthy, findings } = JSON.parse(stdout) as { healthy: boolean; findings: Finding[] }
  assert.equal(status, healthy ? 0 : 1)
  for (const { status: found, advice } of findings) assert.equal(advice === undefined, found === 'ok')
  return { healthy, of: (check: string) => findings.find((finding) => finding.check === check) }
}

describe('commonplace doctor', () => {
  test('finds nothing wrong before the first start, and creates nothing', async () => {
    const dataDir = join(tempDir(), 'data')
    const { healthy, of } = await examine(['--data-dir', dataDir])
    assert.equal(healthy, true)
    assert.match(of('storage')?.message ?? '', /the first start creates it/)
    assert.equal(of('base_url')?.status, 'warning')
    assert.equal(existsSync(dataDir), false)
  })

  test('finds a running server healthy, and tells a person so', async () => {
    await using server = await startServer()
    const flags = ['--mode', 'dev', '--full', '--data-dir', server.dataDir, '--port', String(server.port)]
    const { healthy, of } = await examine([...flags, '--grpc-port', String(server.grpcPort)])
    assert.equal(healthy, true)
    assert.match(of('port')?.message ?? '', /a server answers on .* and is ready/)
    assert.match(of('gRPC port')?.message ?? '', /in use by the running server/)
    for (const check of [
      'schema',
      'integrity',
      'administrator',
      'jobs',
      'write-ahead log',
      'embedding',
      'vectors',
      'secrets',
    ])
      assert.equal(of(check)?.status, 'ok', check)
    const { stdout, status } = await runCommand(['doctor', ...flags])
    assert.equal(status, 0)
    assert.match(stdout, /^✓ integrity: every page, index and reference is in order$/m)
  })

  test('says when the program runs from its sources, and is content with its bundle', async () => {
    const bundle = await ensureBundle()
    assert.ok(bundle !== null)
    const sources = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
    const [slow, quick] = await Promise.all(
      [sources, bundle].map((program) => examine(['--data-dir', tempDir()], {}, program)),
    )
    assert.equal(slow?.of('program')?.status, 'warning')
    assert.match(slow?.of('program')?.advice ?? '', /bin\/commonplace\.mjs --version/)
    assert.equal(quick?.of('program')?.status, 'ok')
  })

  test('says when the embedding service cannot be asked, and goes on', async () => {
    const { healthy, of } = await examine(['--mode', 'dev', '--data-dir', tempDir()], {
      COMMONPLACE_KNOWLEDGE__EMBEDDING_PROVIDER: 'openai',
      COMMONPLACE_KNOWLEDGE__EMBEDDING_URL: 'http://127.0.0.1:1/v1',
      COMMONPLACE_KNOWLEDGE__EMBEDDING_API_KEY: 'a-key-that-nobody-may-see',
    })
    assert.equal(healthy, true)
    const finding = of('embedding')
    assert.equal(finding?.status, 'warning')
    assert.match(finding?.message ?? '', /^The embedding service 127\.0\.0\.1:1 could not be asked/)
    assert.ok(!JSON.stringify(finding).includes('nobody-may-see'))
  })

  test('names every setting that is wrong, with an example', async () => {
    const { healthy, of } = await examine([], { COMMONPLACE_SERVER__BODY_LIMIT: 'much', COMMONPLACE_LOG_LEVEL: 'loud' })
    assert.equal(healthy, false)
    assert.match(of('settings')?.message ?? '', /server\.body_limit|telemetry\.log_level/)
  })

  test('sees a port that another program has', async () => {
    const stranger = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const { port } = stranger.address() as { port: number }
    const { healthy, of } = await examine(['--mode', 'dev', '--data-dir', tempDir(), '--port', String(port)])
    stranger.close()
    assert.equal(healthy, false)
    assert.match(of('port')?.message ?? '', /another program uses/)
  })

  test('does not blame another program for the ports of a server that is not ready', async () => {
    const notReady = createHttpServer((_request, answer) => answer.writeHead(503).end('{"status":"unavailable"}'))
    const [ours, grpc] = [notReady.listen(0, '127.0.0.1'), createServer().listen(0, '127.0.0.1')]
    await Promise.all([once(ours, 'listening'), once(grpc, 'listening')])
    const [port, grpcPort] = [ours, grpc].map((server) => String((server.address() as { port: number }).port))
    const flags = [
      '--mode',
      'dev',
      '--data-dir',
      tempDir(),
      '--port',
      port as string,
      '--grpc-port',
      grpcPort as string,
    ]
    const { healthy, of } = await examine(flags)
    for (const server of [ours, grpc]) server.close()
    assert.equal(healthy, false)
    assert.match(of('port')?.message ?? '', /not ready \(status 503\)/)
    assert.match(of('gRPC port')?.message ?? '', /in use by the running server/)
  })

  test('sees that the key is missing or wrong without which the server does not start', async () => {
    const [right, wrong] = ['a', 'b'].map((letter) => letter.repeat(64)) as [string, string]
    const server = await startServer({ env: { COMMONPLACE_AUTH__ENCRYPTION_KEY: right } })
    await server.stop()
    const flags = ['--data-dir', server.dataDir]
    const without = await examine(flags)
    assert.equal(without.healthy, false)
    assert.match(without.of('secrets')?.advice ?? '', /set auth\.encryption_key/)
    const other = await examine(flags, { COMMONPLACE_AUTH__ENCRYPTION_KEY: wrong })
    assert.match(other.of('secrets')?.message ?? '', /is not the key/)
  })

  test('says that it cannot see the database, where that is so', async () => {
    const dataDir = join(tempDir(), 'data')
    mkdirSync(dataDir, { mode: 0o700 })
    // Like a file of somebody else, also for those who may read everything.
    symlinkSync('commonplace.db', join(dataDir, 'commonplace.db'))
    const { healthy, of } = await examine(['--data-dir', dataDir])
    assert.equal(healthy, false)
    assert.match(of('storage')?.message ?? '', /commonplace\.db cannot be read \(ELOOP\)/)
  })

  test('sees a damaged database, one of a newer version, and one that does not answer', async () => {
    const dataDir = tempDir()
    const file = join(dataDir, 'commonplace.db')
    assert.equal((await runCommand(['migrate', '--data-dir', dataDir])).status, 0)
    const bytes = readFileSync(file)
    const db = new DatabaseSync(file)
    db.exec(`insert into schema_migrations values (999, 'from the future', 1)`)
    db.close()
    const newer = await examine(['--data-dir', dataDir])
    assert.equal(newer.healthy, false)
    assert.match(newer.of('schema')?.message ?? '', /newer version/)
    writeFileSync(file, Buffer.from(bytes).fill(0xff, 4096 * 2, 4096 * 20))
    const damaged = await examine(['--data-dir', dataDir])
    assert.equal(damaged.healthy, false)
    assert.equal((damaged.of('integrity') ?? damaged.of('storage'))?.status, 'failed')
    assert.doesNotMatch((damaged.of('integrity') ?? damaged.of('storage'))?.advice ?? '', /commonplace doctor/)
    writeFileSync(file, 'this is no database, but it is long enough to be looked at by SQLite'.repeat(100))
    const strange = (await examine(['--data-dir', dataDir])).of('storage')
    assert.equal(strange?.status, 'failed')
    assert.match(
      strange?.advice ?? '',
      /^look at the log of the system, stop the server, keep a copy of the file, then restore a backup$/,
    )
    const away = await examine(['--data-dir', dataDir, '--database-url', 'postgres://nobody@127.0.0.1:1/nothing'])
    assert.equal(away.of('storage')?.status, 'failed')
  })

  test('advises to delete the first secrets and to close the data directory', async () => {
    const dataDir = tempDir()
    mkdirSync(dataDir, { recursive: true })
    chmodSync(dataDir, 0o755)
    writeFileSync(join(dataDir, 'first-start.json'), '{}')
    const { healthy, of } = await examine(['--data-dir', dataDir])
    assert.equal(healthy, true)
    assert.match(of('first secrets')?.advice ?? '', /then delete the file/)
    assert.match(of('data directory')?.advice ?? '', /chmod 700/)
  })
})
