import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../../test/support/temp-dir.ts'
import { HostsFile } from './hosts-file.ts'

function hostsOf(text: string): { hosts: HostsFile; path: string } {
  const path = join(tempDir(), 'hosts')
  writeFileSync(path, text)
  return { hosts: new HostsFile(path), path }
}

test('names have the addresses that stand before them, in whatever case and with whatever blanks between', async () => {
  const { hosts } = hostsOf(
    '# 10.0.0.9 one\n \t10.0.0.1\t One  two # three\n::1 one\r\nnonsense four\n10.0.0.256 four\n\n10.0.0.2 #four\n',
  )
  const one = [
    { address: '10.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  for (const name of ['one', 'ONE', 'One']) assert.deepEqual(await hosts.addressesOf(name), one)
  assert.deepEqual(await hosts.addressesOf('two'), one.slice(0, 1))
  for (const name of ['three', 'four', '#four', '']) assert.deepEqual(await hosts.addressesOf(name), [], name)
})

test('a changed file is read anew, and none is no names', async () => {
  const { hosts, path } = hostsOf('10.0.0.1 one\n')
  assert.equal((await hosts.addressesOf('one')).length, 1)
  writeFileSync(path, '10.0.0.1 other\n')
  assert.deepEqual(await hosts.addressesOf('one'), [])
  assert.deepEqual(await new HostsFile(join(path, 'missing')).addressesOf('one'), [])
})
