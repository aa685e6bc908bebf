import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isAppError } from '../../../platform/errors/app-error.ts'
import { splitText } from '../frontmatter/frontmatter.ts'
import { applyEdit, EDIT_OPERATIONS } from './apply-edit.ts'
import { headingsOf } from './headings.ts'
import { occurrencesOf } from './occurrences.ts'

const LINE_END = fc.constantFrom('\n', '\r\n')
const LINE = fc.oneof(
  fc.constantFrom('', 'text', '  text  ', '## A', '## A ', '### A1', '# T', '## B', '#tag', '    # code', '- [[x]]'),
  fc.constantFrom('```\n## A\n```', '~~~ js\n# T\n~~~', '$& $1', '- ```\n  ## A\n  ```', '<!-- x -->', '> ## A'),
  fc.string({ maxLength: 8 }).filter((text) => !/[#`~]/.test(text)),
)
const BODY = fc
  .tuple(fc.array(fc.tuple(LINE, LINE_END), { maxLength: 12 }), LINE)
  .map(([lines, last]) => lines.flat().join('') + last)
const HEAD = fc.constantFrom('', '---\ntitle: T\n# ## A\n---\n\n', '---\r\ntitle: T\r\n---\r\n', '---\nt: [a]\n---\n')
const TEXT = fc
  .tuple(HEAD, BODY)
  .map(([head, body]) => (head === '' && body.trimStart().startsWith('---') ? `x${body}` : head + body))
const PLAIN = fc.array(fc.constantFrom('x', 'some text', '', 'a\r'), { maxLength: 4 }).map((lines) => lines.join('\n'))
const SECTION = fc.constantFrom('A', '## A', '# T', '### A1', 'B', 'Missing')

describe('edits', () => {
  test('append keeps the text before and ends in the content', () => {
    fc.assert(
      fc.property(TEXT, PLAIN, (text, content) => {
        const edited = applyEdit(text, { operation: 'append', content })
        assert.ok(edited.startsWith(text) && edited.endsWith(content))
        assert.ok(edited.length <= text.length + 1 + content.length)
        assert.equal(splitText(edited).yaml, splitText(text).yaml)
      }),
    )
  })

  test('prepend keeps the frontmatter before and the body after, byte for byte', () => {
    fc.assert(
      fc.property(TEXT, PLAIN, (text, content) => {
        const { head, body } = splitText(text)
        const edited = applyEdit(text, { operation: 'prepend', content })
        assert.ok(edited.startsWith(head) && edited.endsWith(body))
        assert.ok(edited.slice(head.length).startsWith(content))
      }),
    )
  })

  test('find_replace changes as many places as it was told, and back again', () => {
    fc.assert(
      fc.property(BODY, fc.constantFrom('text', '## A', 'x', '\r\n', 'tt'), (text, find) => {
        const count = text.split(find).length - 1
        const swap = (from: string, to: string, body: string) =>
          applyEdit(body, { operation: 'find_replace', content: to, find_text: from, expected_replacements: count })
        fc.pre(count > 0 && find.trim() !== '')
        const marked = swap(find, '\u0001$&', text)
        assert.equal(marked.split('\u0001').length - 1, count)
        assert.equal(swap('\u0001$&', find, marked), text)
        assert.throws(
          () =>
            applyEdit(text, {
              operation: 'find_replace',
              content: '',
              find_text: find,
              expected_replacements: count + 1,
            }),
          new RegExp(`Expected ${count + 1} .*found ${count} `),
        )
      }),
    )
  })

  test('replace_section with the same content twice is the same as once', () => {
    fc.assert(
      fc.property(TEXT, SECTION, PLAIN, fc.boolean(), (text, section, content, replace_subsections) => {
        const replace = (before: string) =>
          applyEdit(before, { operation: 'replace_section', section, content, replace_subsections })
        const once = attempt(() => replace(text))
        if (once !== undefined) assert.equal(replace(once), once)
      }),
      { numRuns: 300 },
    )
  })

  test('outside the section every byte stays, whatever is done to it', () => {
    const operation = fc.constantFrom(...EDIT_OPERATIONS.slice(3))
    fc.assert(
      fc.property(TEXT, SECTION, PLAIN, operation, (text, section, content, operation) => {
        const edited = attempt(() => applyEdit(text, { operation, section, content }))
        if (edited === undefined) return
        const { head, body } = splitText(text)
        const title = section.startsWith('#') ? section : `## ${section}`
        const headings = headingsOf(body)
        const index = headings.findIndex(({ level, text: name }) => `${'#'.repeat(level)} ${name}` === title)
        if (index === -1) return assert.ok(edited.startsWith(head + body), 'added at the end')
        const own = headings[index] as (typeof headings)[number]
        const next = headings.slice(index + 1).find(({ level }) => level <= own.level)
        assert.ok(edited.startsWith(head + body.slice(0, own.start)))
        assert.ok(edited.endsWith(body.slice(next?.start ?? body.length)))
        if (operation.startsWith('insert')) assert.ok(edited.endsWith(body.slice(own.end)))
      }),
      { numRuns: 500 },
    )
  })

  test('metadata leaves the body as it is', () => {
    fc.assert(
      fc.property(TEXT, fc.constantFrom<string | number | null>('v', 3, null), (text, value) => {
        const edited = applyEdit(text, { operation: 'append', content: '', metadata: { key: value } })
        assert.equal(splitText(edited).body, splitText(text).body)
      }),
    )
  })

  test('whatever is asked of whatever text, the answer is a text or says what is wrong', () => {
    const any = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'-#`~:[]{}&*!|>"\' \n\r\t\0\u2028é中', '😀', '\ud800', '---\n') }),
      BODY,
    )
    fc.assert(
      fc.property(
        TEXT,
        fc.constantFrom(...EDIT_OPERATIONS),
        any,
        any,
        any,
        (text, operation, content, section, find_text) => {
          attempt(() => applyEdit(text, { operation, content, section, find_text }))
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('occurrencesOf', () => {
  test('finds in long texts what a plain search finds', () => {
    const run = fc
      .tuple(fc.constantFrom('a', 'b', 'ab'), fc.constantFrom(1, 2, 700))
      .map(([text, count]) => text.repeat(count))
    const long = fc.array(run, { minLength: 1, maxLength: 6 }).map((runs) => runs.join(''))
    fc.assert(
      fc.property(long, long, (text, wanted) => {
        // Long enough for the search that withstands hostile texts.
        const whole = `${text}${wanted}${text}`.repeat(20) + 'c'.repeat(20_000_000 / wanted.length)
        const pieces = whole.split(wanted)
        const found: number[] = []
        let at = 0
        for (const piece of pieces.slice(0, -1)) {
          found.push(at + piece.length)
          at += piece.length + wanted.length
        }
        assert.deepEqual(occurrencesOf(whole, wanted), found)
      }),
      { numRuns: 20, examples: [['a'.repeat(700), 'ab'.repeat(700)]] },
    )
  })

  test('is not slowed down by a text made for it', () => {
    const half = 'a'.repeat(1_000_000)
    assert.deepEqual(occurrencesOf(half + half, `b${half}`), [])
    assert.deepEqual(occurrencesOf(half + half, half), [0, 1_000_000])
    assert.deepEqual(occurrencesOf(`${half}b${half}b`, `${half}b`), [0, 1_000_001])
    assert.equal(occurrencesOf(half, 'aa').length, 500_000)
  })
})

function attempt(make: () => string): string | undefined {
  try {
    return make()
  } catch (error) {
    if (isAppError(error)) return undefined
    throw error
  }
}
