import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { areTwins, isSameName, nameKey, twinKey } from './name-key.ts'
import { slug } from './slug.ts'

const CODE_POINT = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code))

const NAME = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: CODE_POINT }),
  fc.string({ unit: fc.constantFrom(..."aZz0 -_./\\'.md!é中Σςσ+#🎉Ａ"), maxLength: 20 }),
)

describe('nameKey', () => {
  test('is never empty and short enough for an index', () => {
    for (const text of ['', ' ', '🎉', '...', '-', '/', '\u200b']) assert.notEqual(nameKey(text), '')
    const long = ['a'.repeat(501), '中'.repeat(2000), '🎉'.repeat(2000), '😀a'.repeat(300), 'x'.repeat(1_000_000)]
    for (const text of long) {
      assert.ok(Buffer.byteLength(nameKey(text)) <= 900)
      assert.ok(nameKey(text).isWellFormed())
      assert.notEqual(nameKey(text), nameKey(`${text}b`))
    }
  })

  test('never changes, since notes that were written before are found by it', () => {
    assert.equal(nameKey('Docs/Café & Co_v2.md'), nameKey('docs/cafe-co-v2'))
    assert.equal(nameKey('docs/cafe-co-v2'), 'docs/cafecov2')
    assert.equal(nameKey('x'.repeat(300)), 'x'.repeat(300))
    assert.equal(nameKey('x'.repeat(600)), `${'x'.repeat(200)}~5130b33e6b87fbf5316ed9049e98924e`)
  })

  test('is the same for every way to divide, accent and capitalise the words', () => {
    const key = nameKey('docs/Basic Memory Bug.md')
    const alike = [
      'docs/basic-memory-bug',
      'Docs/BasicMemoryBug',
      'DOCS\\basic_memory_bug.MD',
      'docs/basicmemorybug',
      'docs/bäsic memory bug',
    ]
    for (const text of alike) assert.equal(nameKey(text), key, text)
    assert.notEqual(nameKey('Basic Memory Bug.md'), key)
  })

  test('does not mix up names without a letter', () => {
    assert.notEqual(nameKey('🎉'), nameKey('🚀'))
    assert.equal(nameKey('🎉.md'), nameKey('🎉'))
    assert.notEqual(nameKey('🎉/x'), nameKey('x'))
  })

  test('is shared by a text, its slug, and the text with or without .md', () => {
    fc.assert(
      fc.property(NAME, (text) => {
        const made = slug(text)
        if (made !== '') assert.equal(nameKey(made), nameKey(text))
        // Of ` .md` nothing is left, but ` .md.md` is called `.md`.
        const isNamed = made !== '' && !made.endsWith('/-')
        if (isNamed && /[\p{L}\p{N}]$/u.test(text)) assert.equal(nameKey(`${text}.md`), nameKey(text))
      }),
      { numRuns: 1000, examples: [['a.md.md'], ['a.-md'], ['x/..md.md'], ['a.md!'], [' .md'], ['a/_.md']] },
    )
  })

  test('does not depend on case, Unicode form, or the kind of hyphen', () => {
    fc.assert(
      fc.property(NAME, (text) => {
        const key = nameKey(text)
        assert.equal(nameKey(text.toLowerCase()), key)
        assert.equal(nameKey(text.normalize('NFD')), key)
        assert.equal(nameKey(text.replaceAll('_', '-')), key)
        assert.equal(nameKey(text.replaceAll('\\', '/')), key)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('twins', () => {
  test('differ in case, Unicode form, accents or the division of words', () => {
    const twins = [
      ['basic memory bug.md', 'Basic-Memory_bug.md'],
      ['basic memory bug.md', 'basic-memory-bug.md'],
      ['docs/TestNote.md', 'Docs/testnote.md'],
      ['Café.md', 'cafe.md'],
      ['Café.md', 'Cafe\u0301.md'],
      ['API (v2).md', 'api v2.md'],
      ['Hello!.md', 'hello.md'],
      ["Ada's.md", 'adas.md'],
      ['ad\u200bmin.md', 'admin.md'],
      ['a + b.md', 'a+b.md'],
      ['x.md', 'X.MD'],
      ['?!.md', '? \u200b!.md'],
    ] as const
    for (const [one, other] of twins) assert.equal(twinKey(one), twinKey(other), `${one} ${other}`)
  })

  test('are also what has the same slug by capital letters', () => {
    assert.ok(areTwins('TestNote.md', 'test-note.md'))
    assert.ok(areTwins('TestNote.md', 'testnote.md'))
    assert.ok(areTwins('中文English.md', '中文 english.md'))
    assert.ok(!areTwins('test-note.md', 'testnote.md'))
  })

  test('are not made by symbols, numbers, folders or file types', () => {
    const apart = [
      ['C++.md', 'C#.md'],
      ['C++.md', 'C.md'],
      ['C#.md', 'C.md'],
      ['50%.md', '50$.md'],
      ['a&b.md', 'a@b.md'],
      ['a=b.md', 'a b.md'],
      ['🎉.md', '🚀.md'],
      ['!!!.md', '—.md'],
      ['？.md', '！.md'],
      ['ＡＢ.md', 'ＣＤ.md'],
      ['m².md', 'm³.md'],
      ['2024-1-11.md', '2024-11-1.md'],
      ['v1.5.md', 'v15.md'],
      ['a/b.md', 'a b.md'],
      ['plan.md', 'plan.pdf'],
      ['notable.md', 'no table.md'],
    ] as const
    for (const [one, other] of apart) assert.ok(!areTwins(one, other), `${one} ${other}`)
  })

  test('have the same name key, so that a look-up finds them', () => {
    const spelling = fc.constantFrom(
      (text: string) => text.toLowerCase(),
      (text: string) => text.normalize('NFD'),
      (text: string) => text.replaceAll(' ', '_'),
      (text: string) => slug(text),
      (text: string) => text.replaceAll('-', ' - '),
    )
    fc.assert(
      fc.property(NAME, fc.array(spelling, { maxLength: 3 }), (text, spellings) => {
        const other = spellings.reduce((changed, spell) => spell(changed), text)
        for (const stem of ['x', '🎉']) {
          const paths = [`${stem}${text}.md`, `${stem}${other}.md`] as const
          if (areTwins(...paths)) assert.equal(nameKey(paths[0]), nameKey(paths[1]))
        }
      }),
      { numRuns: 1000 },
    )
  })
})

test('names are the same in whatever Unicode form, also where one of them has a form in ASCII', () => {
  assert.ok(isSameName('caf\u00e9', 'cafe\u0301') && isSameName('K', '\u212a') && isSameName('a', 'a'))
  assert.ok(!isSameName('a', 'b') && !isSameName(null, '') && !isSameName('\u00e9', 'e'))
})

test('a name of a million marks is compared in no time', () => {
  const marks = '\u0301\u0323'.repeat(500_000)
  assert.ok(!isSameName(`${marks}a`, `${marks}b`) && isSameName(`${marks}e\u0301`, `${marks}\u00e9`))
  assert.ok(areTwins(`${marks}/a-b.md`, `${marks}/A b.md`))
})
