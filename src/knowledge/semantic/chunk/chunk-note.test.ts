import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { turnsDuring } from '../../../../test/support/turns-during.ts'
import { splitText } from '../../text/frontmatter/frontmatter.ts'
import { inTurns } from '../../text/steps.ts'
import { type Chunk, chunkingNote, chunkNote } from './chunk-note.ts'

const NOTE = { title: 'Coffee', created_at: Date.UTC(2023, 4, 8) * 1_000 }

function chunks(content: string): Chunk[] {
  return chunkNote(NOTE, content)
}

/** What of the note itself stands in each chunk. */
function parts(content: string): string[] {
  return chunks(content)
    .filter(({ kind }) => kind === 'note')
    .map(({ start, end }) => content.slice(start, end))
}

test('every chunk says which note it is of, below which headings, and of which day', () => {
  const content = '---\ntype: note\n---\n\n# Brewing\n\n## Gear\n\n- a kettle\n'
  const [chunk] = chunks(content).slice(-1)
  assert.equal(chunk?.text, 'Coffee\n8 May 2023\nBrewing > Gear\n\n- a kettle')
  assert.equal(content.slice(chunk?.start, chunk?.end), '- a kettle')
  assert.equal(chunk?.hash, hash('sha256', chunk?.text ?? '', 'base64url'))
})

test('a day has the name of its month', () => {
  const months = 'January February March April May June July August September October November December'.split(' ')
  for (const [at, month] of months.entries()) {
    const [chunk] = chunkNote({ title: 'T', created_at: Date.UTC(2023, at, 28) * 1_000 }, 'text')
    assert.equal(chunk?.text, `T\n28 ${month} 2023\n\ntext`)
  }
})

test('bullets are chunks of their own, with what hangs on them', () => {
  const content = '- one\n  more of one\n  - below one\n\n  still one\n- two\n\nText after the list.\n'
  assert.deepEqual(parts(content), [
    '- one\n  more of one\n  - below one\n\n  still one',
    '- two',
    'Text after the list.',
  ])
})

test('short sections are put together, up to nine hundred characters', () => {
  const section = (n: number) => `## Part ${n}\n\n${'word '.repeat(60).trim()}\n`
  const content = Array.from({ length: 6 }, (_, n) => section(n)).join('\n')
  const found = parts(content)
  assert.equal(found.length, 3)
  for (const part of found) assert.ok(part.length <= 900 && part.startsWith('## Part'), String(part.length))
})

test('long sections are split at paragraphs, and long paragraphs into windows that overlap', () => {
  const paragraph = 'A sentence that says something. '.repeat(20).trim()
  const found = parts(`## Long\n\n${[1, 2, 3].map(() => paragraph).join('\n\n')}\n`)
  assert.deepEqual(found, [`## Long\n\n${paragraph}`, paragraph, paragraph])
  const windows = parts('A sentence that says something. '.repeat(100))
  assert.ok(windows.length >= 4)
  for (const [at, window] of windows.entries()) {
    assert.ok(window.length <= 900 && window.length > 300)
    if (at > 0) assert.ok(windows[at - 1]?.includes(window.slice(0, 60)))
  }
})

test('a heading above a long paragraph or a list is no chunk by itself', () => {
  assert.deepEqual(parts('## List\n\n- one\n'), ['- one'])
  const found = chunks(`## Long\n\n${'word '.repeat(400)}`)
  for (const { text } of found) assert.ok(text.startsWith('Coffee\n8 May 2023\nLong\n\nword'))
})

test('code is no list and no heading', () => {
  const content = '```\n# not a heading\n- not a bullet\n\n- nor this\n```\n'
  assert.deepEqual(parts(content), [content.trim()])
})

test('observations and relations have chunks with the number of their place, each text once', () => {
  const content =
    '- [tip] Warm the cup #hot (always)\n- [tip] Warm the cup #hot (always)\n- pairs_with [[Cake]]\nsee [[Tea]]\n'
  assert.deepEqual(
    chunks(content)
      .filter(({ kind }) => kind !== 'note')
      .map(({ kind, position, number, text }) => [kind, position, number, text.split('\n\n')[1]]),
    [
      ['observation', 0, 0, 'tip: Warm the cup #hot (always)'],
      ['relation', 0, 0, 'pairs with Cake'],
    ],
  )
})

test('a note without a text is found by its title', () => {
  for (const content of ['', '---\ntype: note\n---\n', '\n\n \n']) {
    assert.deepEqual(
      chunks(content).map(({ text }) => text),
      ['Coffee\n8 May 2023'],
    )
  }
})

test('a list as long as a note may be does not become as many chunks', () => {
  for (const line of ['- a\n', '- [a] b\n', '# a\n', '1. a\n', 'a\n\n', '```\n', `${'x'.repeat(899)}\n\n`]) {
    const content = line.repeat(200_000 / line.length)
    const found = chunks(content)
    assert.ok(found.length < 1_000, `${JSON.stringify(line)}: ${found.length}`)
    assert.ok(found.reduce((length, { text }) => length + text.length, 0) < 3 * content.length)
  }
})

const WORDS = [
  '\n',
  '\n\n',
  '# ',
  '## h\n',
  '- ',
  '  ',
  '* [a] b',
  '[[x]]',
  '```',
  '~~~\n',
  'word ',
  'ä',
  '😀',
  '\ud83d',
  '\r\n',
  '\t',
  '---\n',
]
const anyText = fc.array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'binary', maxLength: 40 })), {
  maxLength: 60,
})

test('whatever the text is, every word of it is in a chunk, and no chunk is longer than it may be', () => {
  fc.assert(
    fc.property(anyText, fc.nat(30), (words, times) => {
      const content = words.join('') + words.slice(0, 10).join('').repeat(times)
      const found = chunks(content)
      assert.ok(found.length > 0)
      const covered = new Uint8Array(content.length)
      for (const { kind, start, end, text, hash: own } of found) {
        assert.ok(start >= 0 && start <= end && end <= content.length)
        assert.ok(text.length < 2_000 && text.isWellFormed())
        assert.equal(own, hash('sha256', text, 'base64url'))
        if (kind === 'note') covered.fill(1, start, end)
      }
      const headings = new Set(found.flatMap(({ text }) => text.split(/\W+/)))
      const { head } = splitText(content)
      for (let at = head.length; at < content.length; at++) {
        if (covered[at] === 1 || !/\w/.test(content[at] as string)) continue
        const words = /\w+/y
        words.lastIndex = at
        const word = words.exec(content)?.[0] ?? ''
        assert.ok(headings.has(word), `at ${at} of ${JSON.stringify(content)}`)
        at += word.length - 1
      }
      assert.deepEqual(chunks(content), found)
    }),
  )
})

test('a long note is cut into chunks in turns, whatever it is made of, to the same result', async () => {
  for (const piece of ['a\n\n', 'a\n', '# h\n', '- a\n', '- [a] b #t\n', '```\n- [no]\n```\n', 'words [[y]]\n\n']) {
    const content = piece.repeat(10_000)
    const work = inTurns(chunkingNote(NOTE, content))
    assert.ok((await turnsDuring(work)) >= 5, piece)
    assert.deepEqual(await work, chunks(content), piece)
  }
})
