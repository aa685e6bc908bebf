import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readTarget, scanInline } from './wikilinks.ts'

function linksIn(text: string): string[] {
  return scanInline(text).links.map(({ start, end }) => text.slice(start + 2, end - 2))
}

test('finds links and matches their brackets by depth', () => {
  assert.deepEqual(linksIn('see [[A]] and [[B]]'), ['A', 'B'])
  assert.deepEqual(linksIn('[[Outer [[Inner]] Link]]'), ['Outer [[Inner]] Link'])
  assert.deepEqual(linksIn('![[X]]'), ['X'])
  assert.deepEqual(linksIn('[text [[X]] more](url)'), ['X'])
})

test('ignores brackets that are not balanced, but not the links beside them', () => {
  assert.deepEqual(linksIn('[[open'), [])
  assert.deepEqual(linksIn('closed]]'), [])
  assert.deepEqual(linksIn('[[Valid]] and [[Invalid'), ['Valid'])
  assert.deepEqual(linksIn('an open [[ here, then [[Real]]'), ['Real'])
  assert.deepEqual(linksIn(']] [[Real]]'), ['Real'])
})

test('single brackets around and in a link stay apart from it', () => {
  assert.deepEqual(linksIn('[[[X]]]'), ['X'])
  assert.deepEqual(linksIn('[[Notes [draft]]]'), ['Notes [draft]'])
  assert.deepEqual(linksIn('[[a [b]]'), ['a [b'])
  assert.deepEqual(linksIn('[[a [b] c]]'), ['a [b] c'])
})

test('does not look into inline code', () => {
  assert.deepEqual(linksIn('`[[A]]` [[B]] ``[[C]] ` [[D]]`` [[E]]'), ['B', 'E'])
  assert.deepEqual(linksIn('`open [[A]]'), ['A'])
  assert.deepEqual(linksIn('\\`[[A]]\\`'), ['A'])
  assert.deepEqual(linksIn('[[Using `foo`]]'), ['Using `foo`'])
  assert.deepEqual(linksIn('[[a `b]]` c]]'), ['a `b]]` c'])
})

test('does not look into comments', () => {
  assert.deepEqual(linksIn('a <!-- [[A]] --> [[B]]'), ['B'])
  assert.deepEqual(linksIn('a <!-- [[A]]'), ['A'])
  assert.deepEqual(linksIn('a <!--> [[A]]'), ['A'])
})

test('a backslash takes the meaning from a bracket', () => {
  assert.deepEqual(linksIn('\\[[A]] \\\\[[B]]'), ['B'])
})

test('separates display text and anchor from the target', () => {
  const bare = { target: 'Target', anchor: null, display: null, name: 'Target' }
  assert.deepEqual(readTarget(' Target '), bare)
  assert.deepEqual(readTarget('Target|Display'), { ...bare, display: 'Display' })
  assert.deepEqual(readTarget('Target\\|Display'), { ...bare, display: 'Display' })
  assert.deepEqual(readTarget('Target|'), bare)
  assert.deepEqual(readTarget('Target#Heading'), { ...bare, anchor: 'Heading', name: 'Target#Heading' })
  assert.deepEqual(readTarget('Target#^block|D'), { ...bare, anchor: '^block', display: 'D', name: 'Target#^block' })
  assert.deepEqual(readTarget('Target # Heading'), { ...bare, anchor: 'Heading', name: 'Target # Heading' })
  assert.deepEqual(readTarget('C#'), { target: 'C#', anchor: null, display: null, name: 'C#' })
})

test('writes a note of another project with a slash', () => {
  assert.deepEqual(readTarget('project::Note')?.target, 'project/Note')
  assert.deepEqual(readTarget('project::Note#H')?.name, 'project/Note#H')
  assert.deepEqual(readTarget('project::Note#std::vector')?.name, 'project/Note#std::vector')
  assert.deepEqual(readTarget('Note#std::vector')?.anchor, 'std::vector')
  assert.deepEqual(readTarget('a::b::c')?.name, 'a/b::c')
  assert.deepEqual(readTarget('::Note')?.name, '::Note')
})

test('a path behind the name of a project may begin with a slash', () => {
  assert.equal(readTarget('project::/docs/Note#H')?.name, 'project/docs/Note#H')
  assert.equal(readTarget('project:: //Note')?.name, 'project/Note')
  for (const name of ['project::', 'project::/', 'project:: //']) assert.equal(readTarget(name)?.name, name)
})

test('a target is one line', () => {
  assert.equal(readTarget('Long\n  Name')?.target, 'Long Name')
})

test('what names nothing is no target', () => {
  for (const inner of ['', '  ', '|display', '#anchor', ' # x', 'x'.repeat(1001), '\n'])
    assert.equal(readTarget(inner), null)
})

const pieces = fc.constantFrom('[', '[[', ']', ']]', '`', '``', '<!--', '-->', '\\', 'a', ' ', '\n', '|', '#', '::')

test('finds spans that do not overlap, in order, with brackets at both ends', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = parts.join('')
      const { links, hidden } = scanInline(text)
      for (const spans of [links, hidden]) {
        for (const [at, { start, end }] of spans.entries()) {
          assert.ok(start < end && end <= text.length && start >= (spans[at - 1]?.end ?? 0))
        }
      }
      for (const { start, end } of links) {
        assert.equal(text.slice(start, start + 2) + text.slice(end - 2, end), '[[]]')
        readTarget(text.slice(start + 2, end - 2))
      }
    }),
    { numRuns: 3000 },
  )
})

test('hostile brackets and backticks are read in one pass', () => {
  const many = 1_000_000
  assert.deepEqual(linksIn('[['.repeat(many)), [])
  assert.deepEqual(linksIn(']]'.repeat(many)), [])
  assert.equal(linksIn(`${'[['.repeat(many)}a${']]'.repeat(many)}`).length, 1)
  assert.equal(linksIn('[[a]]'.repeat(many)).length, many)
  assert.deepEqual(linksIn('[[ '.repeat(many)), [])
  assert.deepEqual(linksIn('<!-- '.repeat(many)), [])
  assert.deepEqual(linksIn('` `` '.repeat(many)), [])
  const runs = Array.from({ length: 3000 }, (_, at) => '`'.repeat(at + 1)).join(' ')
  assert.deepEqual(scanInline(runs).hidden, [])
  assert.equal(linksIn(`[[a${'\n '.repeat(many)}b]]`).length, 1)
})

test('links of a text without escapes are those that it has behind a backslash that escapes nothing', () => {
  const piece = fc.constantFrom('[[', ']]', '[', ']', '[[a]]', '[[a|b]]', '[[a]b]]', '![[a]]', 'words', ' ', '\n')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const behind = scanInline(`\\ ${text}`).links.map(({ start, end }) => ({ start: start - 2, end: end - 2 }))
      assert.deepEqual(scanInline(text).links, behind, JSON.stringify(text))
    }),
    { numRuns: 3_000 },
  )
})
