import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runTestFile } from '../../scripts/run-test-file.ts'
import { tempDir } from '../support/temp-dir.ts'

// Under `node --test` the file would report to that.
const OPTIONS = {
  env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  nodeFlags: [],
  signal: new AbortController().signal,
}

function runFile(text: string) {
  const file = join(tempDir(), 'some.test.ts')
  writeFileSync(file, `import { test } from 'node:test'\nimport { setTimeout } from 'node:timers/promises'\n${text}`)
  return runTestFile(file, OPTIONS)
}

test('what passes, fails and is skipped in a test file is counted, each with its name', async () => {
  const result = await runFile(`
test('good', () => {})
test('bad', async (t) => { await t.test('in it', () => { throw new Error('wrong: ' + (1 as number)) }) })
test('later', { skip: 'not here' }, () => {})
`)
  assert.deepEqual([result.passed, result.skipped], [1, ['not here']])
  assert.deepEqual(
    result.failures.map(({ name }) => name),
    ['bad > in it'],
  )
  assert.match(result.failures[0]?.error ?? '', /wrong: 1[\s\S]*some\.test\.ts:5/)
})

for (const [title, mistake] of [
  ['thrown where nobody waits', `process.nextTick(() => { throw new Error('lost') })`],
  ['of a promise that nobody has', `void Promise.reject(new Error('lost'))`],
] as const) {
  test(`an error ${title} fails the file, and it is told where it came from`, async () => {
    const result = await runFile(`test('fine', async () => {\nawait null\n${mistake}\nawait setTimeout(1)\n})\n`)
    assert.ok(result.failures.length > 0)
    assert.match(result.failures.map(({ error }) => error).join(), /lost/)
    assert.match(result.output + result.failures.map(({ error }) => error).join(), /some\.test\.ts:5/)
  })
}

test('a file without a test, and one that cannot be loaded, fail', async () => {
  assert.deepEqual(
    (await runFile('')).failures.map(({ error }) => error),
    ['has no tests'],
  )
  const broken = await runFile(`import './nowhere.ts'\ntest('fine', () => {})\n`)
  assert.equal(broken.failures.length, 1)
  assert.match(broken.output, /nowhere\.ts/)
})
