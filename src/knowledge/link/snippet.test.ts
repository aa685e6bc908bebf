import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPhrase, paragraphAt, snippet } from './snippet.ts'

test('a snippet is one line, and cuts are shown and made between words', () => {
  assert.equal(snippet('a\n  b [[X]]\tc', 6, 5), 'a b [[X]] c')
  const long = `${'leftward '.repeat(50)}[[X]]${' right-hand'.repeat(50)}`
  const cut = snippet(long, 450, 5)
  assert.match(cut, /^…(leftward )+\[\[X\]\]( right-hand)+…$/)
  assert.ok(cut.length > 200 && cut.length < 260)
  assert.equal(snippet(`[[X]]${' y'.repeat(200)}`, 0, 5), `[[X]]${' y'.repeat(60)}…`)
  assert.equal(snippet(`${'y '.repeat(200)}[[X]]`, 400, 5), `…${'y '.repeat(59)}[[X]]`)
})

test('a text without blanks is cut somewhere, never through half a character', () => {
  const cut = snippet(`${'😀'.repeat(100)}[[X]]${'😀'.repeat(100)}`, 200, 5)
  assert.ok(cut.includes('[[X]]') && cut.isWellFormed())
})

test('a cut leaves no half of a flag, a family or a syllable', () => {
  for (const unit of ['😀', '🇩🇪', '👨‍👩‍👧', '각'.normalize('NFD')]) {
    for (let shift = 0; shift < 4; shift++) {
      const before = unit.repeat(80) + 'x'.repeat(shift)
      const cut = snippet(`${before}[[X]]${'y'.repeat(shift)}${unit.repeat(80)}`, before.length, 5)
      assert.match(cut.replaceAll(unit, ''), /^…x*\[\[X\]\]y*…$/, unit)
    }
  }
})

test('the paragraph of a place ends at empty lines, with whatever line ends', () => {
  for (const end of ['\n', '\r\n']) {
    const text = `---${end}title: x${end}---${end}${end}one [[X]]${end}two${end}${end}three`
    const found = paragraphAt(text, text.indexOf('[[X]]'))
    assert.equal(found.text.slice(found.at, found.at + 5), '[[X]]')
    assert.equal(snippet(found.text, found.at, 5), 'one [[X]] two')
  }
})

test('a phrase is found whatever its case and blanks, but not inside of words', () => {
  assert.equal(findPhrase('A cold\n BREW.', 'Cold Brew')?.at, 2)
  assert.equal(findPhrase('cold brews, cold brew', 'cold brew')?.at, 12)
  assert.equal(findPhrase('scold brew', 'cold brew'), null)
  assert.equal(findPhrase('cold brew2 4cold brew _cold brew', 'cold brew'), null)
  assert.equal(findPhrase('x(cold) brew-y', '(cold)  brew')?.at, 1)
  assert.equal(findPhrase('关于测试文档', '测试')?.at, 2)
  assert.equal(findPhrase('ພາສາລາວ', 'ລາວ')?.at, 4)
  assert.equal(findPhrase('ភាសាខ្មែរ', 'ខ្មែរ')?.at, 4)
  assert.equal(findPhrase('မြန်မာစာ', 'စာ')?.at, 6)
  assert.equal(findPhrase('C++ and C', 'C')?.at, 0)
  assert.equal(findPhrase('anything', ' '), null)
})

test('a phrase is found in whatever Unicode form it and the text are, and not inside of words there', () => {
  const [short, long] = ['Café 한국', 'Café 한국'.normalize('NFD')]
  for (const phrase of [short, long]) {
    for (const text of [short, long]) assert.ok(findPhrase(`In (${text})`, phrase) !== null)
    assert.equal(findPhrase(`Un${long}`, phrase), null)
  }
  assert.equal(findPhrase('Café'.normalize('NFD'), 'Cafe'), null)
})

test('a phrase stands in the text as it is written, also where lower case is longer', () => {
  const found = findPhrase('İyi! In İSTANBUL a Cold Brew.', 'cold brew')
  assert.deepEqual(found, { text: 'İyi! In İSTANBUL a Cold Brew.', at: 19, length: 9 })
  assert.equal(findPhrase('In İSTANBUL', 'İstanbul')?.at, 3)
})

test('a phrase that a text nearly has at every place is looked for in linear time', () => {
  const half = 'a '.repeat(500_000)
  assert.equal(findPhrase(half, `+${half}`), null)
  assert.equal(findPhrase(`${half}+${half}`, `+${half}`)?.at, 1_000_000)
  assert.equal(findPhrase('a  \u2003b\tc d', ' a\nb c  d')?.at, 0)
})
