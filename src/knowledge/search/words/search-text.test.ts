import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { columnText, indexWords, LONGEST_WORD, queryWords, unspacedLetters, wordsInPieces } from './search-text.ts'
import { BEGINNING, hashOf, STEM, WORD } from './word-hash.ts'

test('the hash of a word never changes: indexes that were written before are full of them', () => {
  const hashes = [hashOf(WORD, 'coffee'), hashOf(STEM, 'coffe'), hashOf(BEGINNING, 'cof'), hashOf(WORD, '')]
  assert.deepEqual(hashes, [2_385_279_649, 3_706_403_063, 225_855_511, 2_166_136_261])
})

test('words are runs of letters and digits in lower case', () => {
  assert.deepEqual(indexWords("Don't panic: C++ & v2.0_final\n(42)"), [
    'don',
    't',
    'panic',
    'c',
    'v2',
    '0',
    'final',
    '42',
  ])
})

test('accents, ligatures, full-width letters and letter variants do not matter', () => {
  assert.deepEqual(indexWords('Café Ångström Straße ŁÓDŹ ﬁsh ＡＢＣ１'), [
    'cafe',
    'angstrom',
    'strasse',
    'lodz',
    'fish',
    'abc1',
  ])
  assert.deepEqual(indexWords('cafe\u0301 ΟΔΟΣ ёлка İstanbul'), ['cafe', 'οδοσ', 'елка', 'istanbul'])
})

test('what nobody sees ends no word', () => {
  assert.deepEqual(indexWords('Donau\u00addampf\u00adschiff, non\u2060stop \ufeffend'), [
    'donaudampfschiff',
    'nonstop',
    'end',
  ])
  assert.deepEqual(indexWords('東\u2060京'), ['東京', '京'])
  assert.equal(columnText('Donau\u00addampf'), 'donaudampf')
})

test('each emoji is a word, in whatever colour and form', () => {
  const [sun, thumb, man, child] = ['\u2600', '\u{1f44d}', '\u{1f468}', '\u{1f467}'].map((text) => indexWords(text)[0])
  assert.equal(new Set([sun, thumb, man, child]).size, 4)
  assert.deepEqual(indexWords('sun\u2600\ufe0fshine \u2600'), ['sun', sun, 'shine', sun])
  assert.deepEqual(indexWords('\u{1f44d}\u{1f3fd} \u{1f468}\u200d\u{1f467}'), [thumb, man, child])
  const flags = ['\u{1f1e9}\u{1f1ea}', '\u{1f1eb}\u{1f1f7}']
  assert.deepEqual(
    indexWords(flags.join('')),
    flags.map((flag) => indexWords(flag)[0]),
  )
  assert.deepEqual(indexWords('a → b © ™'), ['a', 'b', 'tm'])
  for (const text of ['\u2600', ...flags]) assert.match(indexWords(text).join(), /^\uf8ff\d+$/)
})

test('how a character is to look says nothing', () => {
  assert.deepEqual(indexWords('葛\u{e0100}飾 1\ufe0f'), indexWords('葛飾 1'))
})

test('vowel points of Hebrew and Arabic do not matter', () => {
  assert.deepEqual(indexWords('שָׁלוֹם مُحَمَّد'), indexWords('שלום محمد'))
})

test('letters of Arabic scripts are one, whichever of their forms a keyboard has', () => {
  const pairs = { کتاب: 'كتاب', علی: 'علي', مدرسة: 'مدرسه', ٱلكتاب: 'الكتاب', یے: 'يي', ۀ: 'ه', ﻛﺘﺎﺏ: 'كتاب' }
  for (const [one, other] of Object.entries(pairs)) assert.deepEqual(indexWords(one), indexWords(other), one)
  assert.notDeepEqual(indexWords('كتاب'), indexWords('كتب'))
})

test('each letter that has a form of its own elsewhere is found by the one that the index has', () => {
  const one = 'ß æ œ ø đ ð ł þ ı ς \u0629 \u0649 \u0671 \u06a9 \u06c1 \u06c3 \u06cc \u06d2 \u06d5'
  const other = 'ss ae oe o d d l th i σ \u0647 \u064a \u0627 \u0643 \u0647 \u0647 \u064a \u064a \u0647'
  for (const text of [one, one.toUpperCase()]) assert.deepEqual(indexWords(text), other.split(' '))
})

test('all ten digits of Arabic, Persian and Indic scripts and of Tibetan are those of ASCII', () => {
  const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xf20]
  for (const zero of zeros) {
    const digits = Array.from({ length: 10 }, (_, digit) => String.fromCharCode(zero + digit))
    assert.deepEqual(indexWords(digits.join('')), ['0123456789'], zero.toString(16))
    const [before, behind] = [zero - 1, zero + 10].map((code) => String.fromCharCode(code))
    for (const no of [before, behind]) assert.ok(!/[0-9]/.test(indexWords(`x${no}`).join('')), zero.toString(16))
  }
})

test('digits of other alphabets are those of ASCII', () => {
  assert.deepEqual(indexWords('سال ۱۴۰۳ ٢٠٢٤ २०२४ v༡༢'), ['سال', '1403', '2024', '2024', 'v12'])
  assert.deepEqual(indexWords('๑๕'), ['๑๕', '๕'])
})

test('a joiner ends no word', () => {
  assert.deepEqual(indexWords('ශ්\u200dරී ලංකා'), indexWords('ශ්රී ලංකා'))
  assert.equal(indexWords('ශ්\u200dරී').length, 1)
})

test('scripts without spaces are kept as overlapping pairs and the last character', () => {
  assert.deepEqual(indexWords('東京都'), ['東京', '京都', '都'])
  assert.deepEqual(indexWords('東 京'), ['東', '京'])
  assert.deepEqual(indexWords('ｶﾞｷﾞ한국'), ['ガギ', 'ギ한', '한국', '국'])
  assert.deepEqual(indexWords('iPhone東京15'), ['iphone', '東京', '京', '15'])
})

test('letters that are looked for in such a script are those that the index has', () => {
  const kept = (text: string) =>
    indexWords(text)
      .map((word) => word[0])
      .join('')
  const ranges = ['ぁゖ', 'ァヺ', 'ーー', '一鿿', '가힣', 'ᄀᄒ', 'ᅡᅵ', 'ᆨᇂ', 'ｱﾝ', '々々'].map((ends) => {
    const [min, max] = [ends.charCodeAt(0), ends.charCodeAt(1)] as const
    for (let code = min; code <= max; code++) {
      const letter = String.fromCharCode(code)
      assert.equal(unspacedLetters(letter), kept(letter))
    }
    return fc.integer({ min, max }).map((code) => String.fromCharCode(code))
  })
  fc.assert(
    fc.property(fc.string({ unit: fc.oneof(...ranges) }), (text) => {
      assert.equal(unspacedLetters(text), kept(text))
    }),
  )
})

test('a question in such a script asks for its pairs, and for a single character by itself', () => {
  assert.deepEqual(queryWords('東京都'), ['東京', '京都'])
  assert.deepEqual(queryWords('東'), ['東'])
})

test('signs of Indic scripts stay inside their word', () => {
  assert.equal(indexWords('हिन्दी').length, 1)
  assert.notDeepEqual(indexWords('हिन्दी'), indexWords('हन्दी'))
})

test('a word of any length is cut to one that storage takes', () => {
  assert.deepEqual(
    indexWords(`${'x'.repeat(10_000)} ${'é'.repeat(10_000)}`).map((word) => word.length),
    [LONGEST_WORD, LONGEST_WORD],
  )
})

test('plain text goes to SQLite as it is, other text as its words', () => {
  assert.equal(columnText('A plain – “quoted” naïve text.'), 'A plain – “quoted” naïve text.')
  assert.equal(columnText('Ein großes Wort'), 'ein grosses wort')
})

test("a word that is too long for the index is cut before SQLite's tokenizer sees it, wherever it stands", () => {
  for (const letters of ['a', 'é', 'aé']) {
    for (const [before, length] of [
      [0, 0],
      [0, 1],
      [0, 499],
      [7, 0],
      [499, 1],
      [500, 1],
      [1_250, 300],
    ] as const) {
      const word = letters.repeat(2 * LONGEST_WORD).slice(0, LONGEST_WORD + length)
      const text = `${'- '.repeat(before)}${word} end`
      const words = `${indexWords(word)[0]} end`
      assert.equal(columnText(text), length === 0 ? text : words, `${letters} ${before} ${length}`)
    }
  }
})

test('a long text has the words that it has as a whole, wherever it is cut to be read', () => {
  const SHORT = ['aéßﬁΣςЖ٠', 'a𠀀東', 'हिन्दी', ' \n.…。、℡<=\u0338\u0301', 'a\u{1f680}\u2600\ufe0f\u200d ']
  const UNSPACED = ['東京都ー〆々ガｶﾞﾟか\u3099㌀㍿', '각ᄀ\u1161\u11a8ㄱㅏ한', 'กขำ\u0e35\u0e48ກຳ']
  const stretch = (alphabets: readonly string[], longest: number) =>
    fc
      .tuple(fc.constantFrom(...alphabets), fc.integer({ min: 1, max: longest }), fc.nat(1_000_000))
      .map(([alphabet, length, seed]) => {
        const letters = [...alphabet]
        return Array.from({ length }, (_, at) => letters[hashOf(String(seed), String(at)) % letters.length])
      })
  const texts = fc
    .array(fc.oneof(stretch(SHORT, 40), stretch(UNSPACED, 900)), { minLength: 1, maxLength: 20, size: 'max' })
    .map((parts) => parts.flat().join('').slice(0, 4_000))
  fc.assert(
    fc.property(texts, (text) => {
      assert.equal([...wordsInPieces(text, 1_100)].flat().join(' '), indexWords(text).join(' '))
    }),
  )
})

test('a word that goes on and on is one, and marks that do are read in no time', () => {
  assert.equal(indexWords('é'.repeat(100_000)).length, 1)
  assert.deepEqual(indexWords(`${'東'.repeat(10)}${'x'.repeat(20_000)}東京`).slice(-3), ['x'.repeat(500), '東京', '京'])
  assert.deepEqual(indexWords(`a${'\u0301\u0323'.repeat(500_000)} end`), ['a', 'end'])
})
