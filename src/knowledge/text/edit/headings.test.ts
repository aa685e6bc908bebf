import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { headingsOf } from './headings.ts'

function found(text: string): string[] {
  return headingsOf(text).map(({ level, text: heading, line }) => `${line}:${level}:${heading}`)
}

describe('headingsOf', () => {
  test('finds lines of one to six "#" with at most three spaces before', () => {
    assert.deepEqual(
      found('# a\n   ## b  \n    # code\n\t# code\n#tag\n####### seven\n###### six\n#\n##\t tab\nx # y'),
      ['1:1:a', '2:2:b', '7:6:six', '8:1:', '9:2:tab'],
    )
    assert.deepEqual(found('# a\r\n## b\r\n'), ['1:1:a', '2:2:b'])
  })

  test('knows where each line begins and ends', () => {
    const text = 'x\n# a\r\ny\n## b'
    assert.deepEqual(
      headingsOf(text).map(({ start, end }) => text.slice(start, end)),
      ['# a\r\n', '## b'],
    )
  })

  test('skips fenced code of both kinds up to its own closing fence', () => {
    assert.deepEqual(found('```js\n# no\n~~~\n``` x\n``\n````\n# yes'), ['7:1:yes'])
    assert.deepEqual(found('~~~ a`b\n# no\n```\n~~\n   ~~~~  \n# yes'), ['6:1:yes'])
    assert.deepEqual(found('````\n```\n# no\n````\n# yes'), ['5:1:yes'])
    assert.deepEqual(found('```\n    ```\n# no\n```\r\n# yes'), ['5:1:yes'])
  })

  test('takes no fence for one that is not', () => {
    assert.deepEqual(found('``` a`b\n# yes'), ['2:1:yes'])
    assert.deepEqual(found('``\n# yes'), ['2:1:yes'])
    assert.deepEqual(found('so - ```\n# yes'), ['2:1:yes'])
    assert.deepEqual(found('    ```\n# yes'), ['2:1:yes'])
    assert.deepEqual(found('> ```\n> x\n> ```\n# yes'), ['4:1:yes'])
  })

  test('an open fence runs to the end', () => {
    assert.deepEqual(found('# a\n```\n# no\n## no'), ['1:1:a'])
  })

  test('a fence beside a list marker ends in its item', () => {
    assert.deepEqual(found('- ```js\n  # no\n  ```\n# yes'), ['4:1:yes'])
    assert.deepEqual(found('1. ~~~\n   # no\n\n   # no\n# yes'), ['5:1:yes'])
    assert.deepEqual(found('+ ```\n\tcode\n  # no\n  ```\n# yes'), ['5:1:yes'])
    assert.deepEqual(found('2) ```\n   # no\n   ```\n# yes'), ['4:1:yes'])
  })

  test('reads a megabyte of anything in one go', () => {
    for (const piece of ['#', '# a\n', '```\n', '`', ' ', '\n', '- ', '\t', '~~~\n# a\n', '1. ```\n']) {
      headingsOf(`# x\n${piece.repeat(1_000_000 / piece.length)}`)
    }
  })
})
