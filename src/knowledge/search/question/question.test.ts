import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Node, parseQuestion, relaxed } from './question.ts'

/** A tree as text, with all its brackets. */
function shown(node: Node | null): string {
  if (node === null) return ''
  if (node.kind === 'word') return node.word
  if (node.kind === 'phrase') return `"${node.words.join(' ')}${node.isBeginning ? '*' : ''}"`
  if (node.kind === 'not') return `!${shown(node.part)}`
  return `(${node.parts.map(shown).join(node.kind === 'and' ? ' & ' : ' | ')})`
}

const READ: [question: string, tree: string][] = [
  ['', ''],
  ['  ', ''],
  ['coffee', 'coffee'],
  ['Coffee Brewing', '(coffee & brewing)'],
  ['coffee coffee', 'coffee'],
  ['what is this?', '(what & is & this)'],
  ['a AND b', '(a & b)'],
  ['a OR b', '(a | b)'],
  ['a b OR c d', '((a & b) | (c & d))'],
  ['a NOT b', '(a & !b)'],
  ['NOT b', '!b'],
  ['NOT NOT b', 'b'],
  ['NOT (a OR b) c', '(!(a | b) & c)'],
  ['(a OR b) AND c', '((a | b) & c)'],
  ['(a OR (b AND c))', '(a | (b & c))'],
  ['a or b and not c', '(a & or & b & and & not & c)'],
  ['"pour over" coffee', '("pour over" & coffee)'],
  ['"unclosed phrase', '(unclosed & phrase)'],
  ['“typographic quotes”', '"typographic quotes"'],
  ['""', ''],
  ['wi-fi', '"wi fi"'],
  ['node.js-server', '"node js server*"'],
  ["don't", '"don t"'],
  ["Ada's notes", '(ada & notes)'],
  ['C++ (v2)', '(c & v2)'],
  ['food/Tea.md', '"food tea"'],
  ['the Tea.MD, please', '(the & tea & please)'],
  ['"Tea.md" a.md.txt', '("tea md" & "a md txt")'],
  ['.md', ''],
  ['AND', 'and'],
  ['a AND', 'a'],
  ['OR OR a', 'a'],
  ['NOT', 'not'],
  ['a ) b OR c', '(a & (b | c))'],
  ['((((a OR', 'a'],
  ['東京', '東京'],
  ['東京都', '"東京 京都"'],
  ['iPhone東京15', '(iphone & 東京 & 15)'],
  ['"東"', '"東*"'],
  ['東京、大阪', '"東京 京 大阪"'],
  ['ｶﾞｷﾞabc', '(ガギ & abc)'],
  ['ＡＢＣdef', 'abcdef'],
  ['foo、bar', '"foo bar"'],
]
for (const [question, tree] of READ) {
  test(`${JSON.stringify(question)} is read as ${tree || 'nothing'}`, () => {
    assert.equal(shown(parseQuestion(question).tree), tree)
  })
}

test('only so many short words of a question may be beginnings, however often each of them is asked for', () => {
  const few = ['b', 'c', 'e', 'f', 'gh', 'ij', 'kl', 'mno']
  const refused = [...few, 'xy', '東', 'z', 'long'].join(' NOT ')
  assert.equal(
    shown(parseQuestion(`${few.join(' OR ')} OR b NOT ${refused}`).tree),
    '(b | c | e | f | gh | ij | kl | mno | (b & !b & !c & !e & !f & !gh & !ij & !kl & !mno & !"xy" & !東 & !"z" & !long))',
  )
  const plain = parseQuestion([...few, 'xy', 'long'].join(' '))
  assert.match(shown(plain.tree), / & mno & "xy" & long\)$/)
  assert.match(shown(relaxed(plain)?.tree ?? null), / \| mno \| "xy" \| long\)$/)
})

test('tags are taken out of a question', () => {
  const { tags, tree, isPlain } = parseQuestion('coffee tag:a,b TAG:"two words" tags:#c')
  assert.deepEqual([tags, shown(tree), isPlain], [['a', 'b', 'two words', 'c'], 'coffee', true])
  assert.deepEqual(parseQuestion('tag:').tags, [])
})

const TAGGED: [question: string, tags: string[], excluded: string[][], tree: string][] = [
  ['NOT tag:a', [], [['a']], ''],
  ['NOT NOT tag:a', ['a'], [], ''],
  ['milk NOT tag:a,b bread', [], [['a', 'b']], '(milk & bread)'],
  ['milk AND NOT tag:a AND NOT tag:b', [], [['a'], ['b']], 'milk'],
  ['tag:a NOT tag:b', ['a'], [['b']], ''],
  ['tag:a AND tag:b', ['a', 'b'], [], ''],
  ['NOT (tag:a)', [], [['a']], ''],
  ['NOT NOT NOT tag:a', [], [['a']], ''],
  ['NOT ((milk) tag:a)', [], [['a']], '!milk'],
  ['NOT (tag:a OR milk) tag:b', ['b'], [['a']], '!milk'],
  ['NOT (milk NOT tag:a)', ['a'], [], '!milk'],
  ['(NOT (NOT (tag:a)) NOT tag:"b c") x', ['a'], [['b c']], 'x'],
  [') tag:a NOT ( milk', ['a'], [], '!milk'],
  ['NOT tag:', [], [], ''],
  ['not tag:a', ['a'], [], 'not'],
  ['cream tag:dessert. Sweet tag:hot?!', ['dessert', 'hot'], [], '(cream & sweet)'],
  ['tag:node.js, tag:"Inc." tag:C++', ['node.js', 'Inc.', 'C++'], [], ''],
  ['tag:"two words",french sweet', ['two words', 'french'], [], 'sweet'],
  ['tag:french,"two words","c d"; sweet', ['french', 'two words', 'c d'], [], 'sweet'],
  ['tag:a"b c" d', ['a'], [], '("b c" & d)'],
  ['tag:"a', ['"a'], [], ''],
]
for (const [question, tags, excluded, tree] of TAGGED) {
  test(`${question} is read with the tags it wants and those it refuses`, () => {
    const asked = parseQuestion(question)
    assert.deepEqual([asked.tags, asked.excludedTags, shown(asked.tree)], [tags, excluded, tree])
  })
}

test('a refused tag is an operator: nothing is asked for once more', () => {
  assert.equal(relaxed(parseQuestion('coffee grinder price NOT tag:a')), null)
})

test('words of a question are those that are asked for, not those that are refused', () => {
  assert.deepEqual(parseQuestion('a "b c" NOT (d OR e)').words, ['a', 'b', 'c'])
})

test('a stem is named where it differs from the word', () => {
  const { tree } = parseQuestion('connections')
  assert.deepEqual(tree, { kind: 'word', word: 'connections', stem: 'connect' })
  assert.deepEqual(parseQuestion('café').tree, { kind: 'word', word: 'cafe', stem: null })
})

const RELAXED: [question: string, tree: string | null][] = [
  ['when did we buy the grinder', '(buy | grinder)'],
  ['two words', null],
  ['coffee grinder price', '(coffee | grinder | price)'],
  ['coffee grinder price 2023', null],
  ['coffee grinder price 2023?', null],
  ['coffee grinder mp3 price', '(coffee | grinder | mp3 | price)'],
  ['coffee grinder price 2023-01-31', '(coffee | grinder | price | 2023 | 01 | 31)'],
  ['invoice 2023 09', null],
  ['river (unknown zebra)', null],
  ['river unknown (zebra)', null],
  ['river zebra (unknown ())', null],
  ['coffee (grinder () price', '(coffee | grinder | price)'],
  ['river (("unknown" zebra)', null],
  ['NEAR(a b, 2)', null],
  ['near(coffee grinder, price)', null],
  ['coffee grinder() price :)', '(coffee | grinder | price)'],
  ['a) coffee b) grinder', '(coffee | b | grinder)'],
  ['a AND b AND c', null],
  ['coffee "pour over" grinder', null],
  ['what is that', null],
  ['apple-wire-bees', null],
  ['https://example.com/a', null],
  ['out-of-memory error', null],
  ['out-of-memory error today', '(memory | error | today)'],
  ['東京 天気', '(東京 | 天気)'],
  ['東京の天気', '(東京 | 京の | の天 | 天気)'],
  ['東', null],
  ['ພາສາ ລາວ', '(ພາ | າສ | ສາ | ລາ | າວ)'],
  ['हिन्दी भाषा', null],
  ['བོད ཡིག', null],
  ['𞤀𞤁 𞤂𞤃', null],
]
for (const [question, tree] of RELAXED) {
  test(`nothing for ${question}: ${tree === null ? 'that is it' : `then ${tree}`}`, () => {
    const again = relaxed(parseQuestion(question))
    assert.equal(again === null ? null : shown(again.tree), tree)
  })
}

test('any text is a question of bounded size', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const question = parseQuestion(text)
      relaxed(question)
      assert.ok(sizeOf(question.tree) <= 500)
    }),
  )
})

function sizeOf(node: Node | null): number {
  if (node === null) return 0
  if (node.kind === 'not') return 1 + sizeOf(node.part)
  return node.kind === 'and' || node.kind === 'or' ? node.parts.reduce((sum, part) => sum + sizeOf(part), 1) : 1
}

test('long questions of nothing but syntax are read as fast as they are long', () => {
  for (const piece of ['(', ')', '"', '(a ', 'NOT ', 'a OR ', '" ', 'tag:', 'NOT (', 'x"', "'s", '-']) {
    const { tree } = parseQuestion(piece.repeat(200_000))
    assert.ok(sizeOf(tree) <= 500)
  }
})

test('a piece without blanks that changes its script with every character is no more words than others', () => {
  const text = Array.from({ length: 10_000 }, (_, n) => `${String.fromCodePoint(0x4e00 + n)}${n}`).join('')
  const question = parseQuestion(text)
  assert.equal(question.words.length, 64)
  assert.ok(sizeOf(question.tree) <= 65)
})

test('what is said is as it was written, without operators, brackets, tags and what is excluded', () => {
  for (const [text, spoken] of [
    ['Straße nach Łódź', 'Straße nach Łódź'],
    ['हिन्दी tag:alpha', 'हिन्दी'],
    ['a NOT (b) c', 'a c'],
    ['a NOT b c', 'a c'],
    ['NOT ((a) b) c', 'c'],
    ['NOT (NOT a) b) c', 'b c'],
    ['"東京の図書館" OR 👍🏽', '東京の図書館 👍🏽'],
    ['Café NOT Milch', 'Café'],
    ['NOT (a OR (b AND c)) d', 'd'],
    ['NOT NOT a NOT AND b', 'a b'],
    ['(a NOT b) AND c) NOT d', 'a c'],
    ['AND OR', 'and or'],
    ['NOT a', ''],
  ]) {
    assert.equal(parseQuestion(text as string).spoken, spoken, text)
  }
})
