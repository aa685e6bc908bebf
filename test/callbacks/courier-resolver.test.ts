import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { shareQuestions } from '../../src/platform/outbound/resolve-host.ts'
import { SystemResolver } from '../../src/platform/outbound/system-resolver.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { HastyClock } from '../support/hasty-clock.ts'
import { startNameServer } from '../support/receivers/name-server.ts'
import { tempDir } from '../support/temp-dir.ts'

const MISSING = '/nowhere/hosts'
const clock = new SystemClock()

test('all addresses of a name are found', async () => {
  await using server = await startNameServer(() => ['192.0.2.1', '192.0.2.2'])
  const { resolve } = new SystemResolver({ clock, servers: () => [server.address], hostsPath: MISSING })
  assert.deepEqual(await resolve('hooks.example.org'), [
    { address: '192.0.2.1', family: 4 },
    { address: '192.0.2.2', family: 4 },
  ])
})

test('names of the hosts file come first, and a change of the file is noticed', async () => {
  await using server = await startNameServer(() => ['192.0.2.9'])
  const hostsPath = join(tempDir(), 'hosts')
  const { resolve } = new SystemResolver({ clock, servers: () => [server.address], hostsPath })
  writeFileSync(
    hostsPath,
    '# ours\n127.0.0.1\tlocalhost\n10.1.1.1 Hooks.Example.org hooks # here\n::1 localhost\nbroken line\n',
  )
  assert.deepEqual(await resolve('hooks.example.org'), [{ address: '10.1.1.1', family: 4 }])
  assert.deepEqual(await resolve('localhost'), [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
  assert.deepEqual(await resolve('line'), [{ address: '192.0.2.9', family: 4 }])
  assert.equal(server.questions.all.includes('hooks.example.org'), false)
  writeFileSync(hostsPath, '10.2.2.2 hooks.example.org and.others\n')
  assert.deepEqual(await resolve('hooks.example.org'), [{ address: '10.2.2.2', family: 4 }])
})

test('what the name servers do not know the system is asked for', async () => {
  await using server = await startNameServer(() => undefined)
  const { resolve } = new SystemResolver({ clock, servers: () => [server.address], hostsPath: MISSING })
  const found = await resolve('localhost')
  assert.ok(found.some(({ address }) => address === '127.0.0.1' || address === '::1'))
  await assert.rejects(resolve('nowhere.invalid'))
})

test('names whose servers are silent do not hold up others, and are given up in the end', async () => {
  await using server = await startNameServer((name) => (name.startsWith('silent') ? null : ['192.0.2.1']))
  const resolver = new SystemResolver({ clock, servers: () => [server.address], hostsPath: MISSING })
  let silentAnswers = 0
  const silent = Array.from({ length: 50 }, (_, number) =>
    assert.rejects(resolver.resolve(`silent-${number}.example.org`)).then(() => silentAnswers++),
  )
  await server.questions.take(100)
  await resolver.resolve('hooks.example.org')
  assert.equal(silentAnswers, 0)
  resolver.close()
  await Promise.all(silent)
})

test('the IPv4 addresses of a name are used when nothing is said of IPv6 a second later', async () => {
  await using server = await startNameServer((_name, kind) => (kind === 'A' ? ['192.0.2.1'] : null))
  const clock = new FakeClock()
  const resolver = new SystemResolver({ clock, servers: () => [server.address], hostsPath: MISSING })
  const found = resolver.resolve('hooks.example.org')
  await clock.untilSet(1_000)
  await clock.advance(1_000)
  assert.deepEqual(await found, [{ address: '192.0.2.1', family: 4 }])
  resolver.close()
})

test('IPv4 addresses that are told late are waited for where there are only those of IPv6, which may lead nowhere', async () => {
  const ipv6 = '2001:0db8:0000:0000:0000:0000:0000:0001'
  const tell = async (_name: string, kind: 'A' | 'AAAA') => {
    if (kind === 'AAAA') return [ipv6]
    for (let turns = 0; turns < 100; turns++) await setImmediate()
    return ['192.0.2.1']
  }
  await using server = await startNameServer(tell)
  const clock = new HastyClock()
  const { resolve } = new SystemResolver({ clock, servers: () => [server.address], hostsPath: MISSING })
  assert.deepEqual(await resolve('hooks.example.org'), [
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ])
})

test('other servers that the machine was given meanwhile are asked after the first failure', async () => {
  await using old = await startNameServer(() => null)
  await using next = await startNameServer(() => ['192.0.2.7'])
  const servers = [old.address]
  const resolver = new SystemResolver({ clock, servers: () => servers, hostsPath: MISSING })
  const first = resolver.resolve('hooks.example.org')
  await old.questions.next()
  servers[0] = next.address
  // As it would be given up in the end: what became of it is the same.
  resolver.close()
  await assert.rejects(first)
  assert.deepEqual(await resolver.resolve('hooks.example.org'), [{ address: '192.0.2.7', family: 4 }])
})

test('where no file can be opened any more to ask for a name, that is what is wrong, and not the name', {
  skip: process.platform === 'win32' && 'there is no such limit',
}, async () => {
  const source = (path: string) => new URL(`../../src/platform/${path}`, import.meta.url).href
  const program = `
    import { openSync } from 'node:fs'
    import { SystemClock } from '${source('clock/clock.ts')}'
    import { SystemResolver } from '${source('outbound/system-resolver.ts')}'
    const servers = () => ['127.0.0.1:9']
    const resolver = new SystemResolver({ clock: new SystemClock(), servers, hostsPath: '${MISSING}' })
    try { for (;;) openSync('/dev/null') } catch {}
    await resolver.resolve('nowhere.invalid').catch(({ code }) => console.log(code))`
  const limited = 'ulimit -n 100; exec "$0" --input-type=module --eval "$1"'
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, program])
  assert.equal(stdout, 'EMFILE\n')
})

test('a question that is underway is not asked twice, one that is answered is asked again', async () => {
  let asked = 0
  const resolve = shareQuestions(async () => {
    asked++
    if (asked === 3) throw new Error('not now')
    return [{ address: '192.0.2.1', family: 4 }]
  })
  await Promise.all([resolve('a.example.org'), resolve('a.example.org'), resolve('b.example.org')])
  assert.equal(asked, 2)
  await assert.rejects(resolve('a.example.org'), /not now/)
  await resolve('a.example.org')
  assert.equal(asked, 4)
})
