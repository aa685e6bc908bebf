import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ParsedLink, parseBody, readBody } from './parse-body.ts'

/** `type -> name`, with the context behind it. */
function edges(body: string): string[] {
  return parseBody(body).links.map(
    ({ type, name, context }) => `${type} -> ${name}${context === null ? '' : ` | ${context}`}`,
  )
}

function facts(body: string): string[] {
  return parseBody(body).observations.map(({ category, content }) => `${category}: ${content}`)
}

test('a list item with a type, a link and a context is a relation', () => {
  assert.deepEqual(edges('- relation_type [[Target]] (context)'), ['relation_type -> Target | context'])
  assert.deepEqual(edges('- uses [[X]]'), ['uses -> X'])
  assert.deepEqual(edges('- "multi word" [[X]]'), ['multi word -> X'])
  assert.deepEqual(edges("- 'multi word' [[X]]"), ['multi word -> X'])
  assert.deepEqual(edges('- зависит_от [[X]]\n- 依赖 [[Y]]'), ['зависит_от -> X', '依赖 -> Y'])
  assert.deepEqual(edges('- Mother [[X]]'), ['Mother -> X'])
  assert.deepEqual(edges(`- ${'long'.repeat(100)} [[X]]`), [`${'long'.repeat(100)} -> X`])
  assert.deepEqual(edges('1. uses [[X]]\n* uses [[Y]]\n+ uses [[Z]]'), ['uses -> X', 'uses -> Y', 'uses -> Z'])
})

test('the context is one balanced group to the end', () => {
  assert.deepEqual(edges('- uses [[X]] ()'), ['uses -> X'])
  assert.deepEqual(edges('- uses [[X]] (a (b) c)'), ['uses -> X | a (b) c'])
  for (const tail of ['and more', '(open', '(a) (b)', '(a) b', ')', '(a))']) {
    assert.deepEqual(edges(`- uses [[X]] ${tail}`), ['links_to -> X'], tail)
  }
  assert.deepEqual(edges('- uses [[X]] and [[Y]]'), ['links_to -> X', 'links_to -> Y'])
})

test('anything else in a list item is an inline link', () => {
  for (const prefix of ['', 'two words', '"open', '"a" b "c"', '[design]', '[ ]', '[x]', '[a](b)', '#tag', '""']) {
    assert.deepEqual(edges(`- ${prefix} [[X]]`), ['links_to -> X'], prefix)
  }
  assert.deepEqual(edges('- ![[X]]'), ['links_to -> X'])
})

test('links in paragraphs, headings and quotes are inline', () => {
  assert.deepEqual(edges('uses [[A]]\n\n# On [[B]]\n\n> quoted [[C]]\n\nTitle [[D]]\n===\n\n| a | [[E\\|e]] |\n'), [
    'links_to -> A',
    'links_to -> B',
    'links_to -> C',
    'links_to -> D',
    'links_to -> E',
  ])
  assert.deepEqual(edges('[[Outer [[Inner]] Link]]'), ['links_to -> Outer [[Inner]] Link'])
  assert.deepEqual(edges('![[X]] [[open [[ ]] [[]]'), ['links_to -> X'])
})

test('code and comments are not read', () => {
  for (const body of [
    '```\n- uses [[A]]\n- [c] fact\n```',
    '~~~ x\n[[A]]\n~~~',
    '    - uses [[A]]\n    - [c] fact',
    '- item\n\n  ```\n  - uses [[A]]\n  - [c] fact\n  ```',
    '`[[A]]`',
    '<!-- [[A]]\n- [c] fact\n-->',
    '<!-- never closed [[A]]\n\n- [c] fact',
    'text <!-- [[A]] --> text',
    '<div>\n- [c] fact #t\n</div>',
    '<script>\na[[0]]\n</script>',
  ]) {
    const { observations, links } = parseBody(body)
    assert.deepEqual({ observations, links }, { observations: [], links: [] }, body)
  }
  assert.deepEqual(edges('<!-- note --> see [[A]]'), ['links_to -> A'])
})

test('an item may be an observation and carry links', () => {
  assert.deepEqual(facts('- [design] uses [[X]] #t'), ['design: uses [[X]] #t'])
  assert.deepEqual(edges('- [design] uses [[X]] #t'), ['links_to -> X'])
  assert.deepEqual(facts('- uses [[X]] (because of #1 there)'), [])
})

test('targets lose display text and anchor, names only the display text', () => {
  const expected: ParsedLink[] = [
    { type: 'uses', target: 'other/Note', anchor: 'Part', display: 'that', context: 'c', name: 'other/Note#Part' },
    { type: 'links_to', target: 'A', anchor: '^b', display: null, context: null, name: 'A#^b' },
  ]
  assert.deepEqual(parseBody('- uses [[other::Note#Part|that]] (c)\n\n[[A#^b]]').links, expected)
})

test('the same type and name count once, and the first wins', () => {
  assert.deepEqual(edges('- uses [[X]] (one)\n- uses [[X]] (two)\n- needs [[X]]\n\n[[X]] [[X|y]] [[x]]'), [
    'uses -> X | one',
    'needs -> X',
    'links_to -> X',
    'links_to -> x',
  ])
})

test('the first line of an item decides; the others may carry links', () => {
  assert.deepEqual(edges('- uses [[X]]\n  and also [[Y]]\n\n  later [[Z]]'), [
    'uses -> X',
    'links_to -> Y',
    'links_to -> Z',
  ])
  assert.deepEqual(edges('- text\n  uses [[X]]'), ['links_to -> X'])
  assert.deepEqual(edges('- uses [[Long\n  Name]]'), ['links_to -> Long Name'])
  assert.deepEqual(edges('- uses [[X]] (see [[Y]])'), ['uses -> X | see [[Y]]', 'links_to -> Y'])
  assert.deepEqual(facts('- [a] one\n  [b] two #t\n\n  [c] three'), ['a: one'])
})

test('nested items are read on their own', () => {
  assert.deepEqual(facts('- [a] one\n  - [b] two\n    1. [c] three\n- - [d] four'), [
    'a: one',
    'b: two',
    'c: three',
    'd: four',
  ])
  assert.deepEqual(edges('- group\n  - uses [[X]]'), ['uses -> X'])
})

test('only list items outside of quotes state facts', () => {
  assert.deepEqual(facts('[c] paragraph #t\n\n# [c] heading #t\n\n> [!info] call-out #t\n>\n> - [c] quoted'), [])
  assert.deepEqual(facts('- > [c] quoted #t\n- [ ] task #t\n- [12:30] spoken'), [])
})

test('equal observations are all kept', () => {
  assert.deepEqual(facts('- [a] one\n- [a] one'), ['a: one', 'a: one'])
})

test('CRLF and lone CR end lines', () => {
  assert.deepEqual(facts('- [a] one\r\n- [b] two (c)\r\n- [c] three'), ['a: one', 'b: two', 'c: three'])
  assert.deepEqual(edges('- uses [[X]] (c)\r\n- needs [[Y]]\r\n\r\nsee [[Z]]\r\n'), [
    'uses -> X | c',
    'needs -> Y',
    'links_to -> Z',
  ])
  assert.equal(parseBody('# Title\r\n\r\ntext').firstHeading1, 'Title')
})

test('collects headings, and the first one of level 1 outside of lists and quotes', () => {
  const body = '> # quoted\n\n## two\n\n- # listed\n\nTitle\n===\n\n# other #\n\n```\n# code\n```\n\nsub\n---\n\n#not\n'
  const { headings, firstHeading1 } = parseBody(body)
  assert.deepEqual(headings, ['quoted', 'two', 'listed', 'Title', 'other', 'sub'])
  assert.equal(firstHeading1, 'Title')
  assert.equal(parseBody('## only two').firstHeading1, null)
})

test('what is nested too deep is still searched for links', () => {
  const deep = `${'- '.repeat(200)}see this [[X]]\n\n- uses [[Y]]\n`
  assert.deepEqual(edges(deep), ['links_to -> X', 'uses -> Y'])
  assert.deepEqual(edges(`${'> '.repeat(200)}[[X]]\n\n- uses [[Y]]\n`), ['links_to -> X', 'uses -> Y'])
  const stairs = Array.from({ length: 200 }, (_, at) => `${'  '.repeat(at)}- [a] step ${at}`).join('\n')
  assert.ok(facts(stairs).length >= 50)
})

const pieces = fc.constantFrom(
  ...[
    '- ',
    '* ',
    '1. ',
    '> ',
    '# ',
    '    ',
    '  ',
    '\n',
    '\n\n',
    '\r\n',
    '\t',
    '```',
    '~~~',
    '`',
    '<!--',
    '-->',
    '<div>',
    '---',
    '===',
  ],
  ...[
    '[[',
    ']]',
    '[',
    ']',
    '(',
    ')',
    '#t',
    'word',
    ' ',
    '|',
    '#',
    '::',
    '[c] ',
    'uses ',
    '"',
    '[x] ',
    '\\',
    '\u2028',
    '😀',
    '[^1]: ',
  ],
)

test('reads any text', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const body = parts.join('')
      const { links, observations } = parseBody(body)
      for (const { type, target, name } of links) assert.ok(type !== '' && target !== '' && name.startsWith(target))
      assert.equal(new Set(links.map(({ type, name }) => `${type}\n${name}`)).size, links.length)
      for (const { content } of observations) assert.ok(content !== '')
      assert.deepEqual(parseBody(body.replaceAll('\r\n', '\n')), { ...parseBody(body) })
    }),
    { numRuns: 3000 },
  )
})

test('hostile texts are read in one pass', () => {
  assert.equal(parseBody('- [a] b #t (c)\n'.repeat(100_000)).observations.length, 100_000)
  assert.equal(parseBody('[['.repeat(1_000_000)).links.length, 0)
  assert.equal(parseBody('[[a]] '.repeat(1_000_000)).links.length, 1)
  const many = 50_000
  for (const piece of [
    '(',
    ')',
    '- ',
    '> ',
    '-\n',
    '>\n',
    '- a\n\n',
    '`',
    '``` ',
    '<!--',
    '<a ',
    '<a b=',
    '*',
    '[c] ',
    '1. ',
    '\t',
    '#',
    '[x]: y\n',
  ]) {
    parseBody(piece.repeat(many))
    parseBody(`- ${piece.repeat(many)}`)
    parseBody(`- uses [[X]] ${piece.repeat(many)}`)
  }
  parseBody(`${'> '.repeat(100)}a\n${'b\n'.repeat(many)}`)
  parseBody(`${'- '.repeat(100)}a\n${'b\n'.repeat(many)}`)
  parseBody(`${'- > '.repeat(100)}a\n${'b\n'.repeat(many)}`)
  assert.equal(parseBody('x'.repeat(10_000_000)).links.length, 0)
  assert.equal(parseBody('a line of text\n'.repeat(200_000)).links.length, 0)
})

test('others have their turn while a single line with very many links is read', async () => {
  const line = Array.from({ length: 20_000 }, (_, n) => `[[${n}]]`).join(' ')
  let turns = 0
  const { links } = await readBody(line, async () => turns++)
  assert.equal(links.length, 20_000)
  assert.ok(turns >= 20, `${turns} turns`)
})

test('a line that says its link is no relation of its own has that link, and does not say it', () => {
  const { links, observations } = parseBody(
    '- Mother [[Ada]]  #bm:links_to \n- [fact] knows [[Bob]] #t #bm:links_to\n- #bm:links_to [[Cy]]\n- [a] x#bm:links_to\n',
  )
  assert.deepEqual(
    links.map(({ type, target }) => `${type} ${target}`),
    ['links_to Ada', 'links_to Bob', 'links_to Cy'],
  )
  assert.deepEqual(
    observations.map(({ category, content, tags }) => [category, content, tags]),
    [
      ['fact', 'knows [[Bob]] #t', ['t']],
      ['note', '#bm:links_to [[Cy]]', ['bm:links_to']],
      ['a', 'x#bm:links_to', []],
    ],
  )
})
