import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { tempDir } from '../support/temp-dir.ts'

const COMMAND = `
  import { Command } from 'commander'
  import { withStorageFlags } from './src/cli/settings-options.ts'
  import { withDatabase } from './src/cli/with-database.ts'
  import { sleep } from './src/platform/clock/clock.ts'

  const command = withStorageFlags(new Command('wait'))
  await command.parseAsync(['--data-dir', process.argv[1]], { from: 'user' })
  await withDatabase(command, ({ clock }) => sleep(clock, 10), { requireSchema: false, mayCreate: true })
  console.log('done')`

test('a command that waits for nothing but time does not end before its work is done', async () => {
  const args = ['--input-type=module-typescript', '-e', COMMAND, tempDir()]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: new URL('../..', import.meta.url) })
  assert.equal(stdout, 'done\n')
})
