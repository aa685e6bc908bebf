import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { askYes } from './ask-yes.ts'

async function answered(keys: string): Promise<[isYes: boolean, shown: string]> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const shown = text(output)
  input.write(keys)
  const isYes = await askYes('Really? ', { input, output, terminal: true })
  output.end()
  return [isYes, await shown]
}

test('only the whole word is a yes', async () => {
  assert.equal((await answered('yes\r'))[0], true)
  for (const keys of ['y\r', 'no\r', '\r', 'yes, sure\r']) assert.equal((await answered(keys))[0], false, keys)
})

test('whoever interrupts, or ends the input, said no', async () => {
  for (const keys of ['\u0003', 'ye\u0003', '\u0004']) {
    const [isYes, shown] = await answered(keys)
    assert.equal(isYes, false)
    assert.match(shown, /Really\? .*\n$/s)
  }
})
