import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseQuestion, type Question } from './question/question.ts'
import { snippetsOf } from './snippets.ts'

const marked = (content: string, question: string | Question, title = '') => {
  const asked = typeof question === 'string' ? parseQuestion(question) : question
  return snippetsOf({ title, tags: [], permalink: null, content }, asked).map(({ text, highlights }) =>
    highlights.toReversed().reduce((shown, [start, end]) => {
      return `${shown.slice(0, start)}<${shown.slice(start, end)}>${shown.slice(end)}`
    }, text),
  )
}

const asked = (tree: Question['tree']): Question => ({ tree, tags: [], isPlain: false, words: [] })

describe('a snippet', () => {
  test('marks words by their beginning, whatever the case', () => {
    assert.deepEqual(marked('Coffee is brewed; we BREW coffees.', 'brew coffee'), [
      '<Coffee> is <brewed>; we <BREW> <coffees>.',
    ])
  })

  test('marks words whose letters are folded, at their place in the text as it is written', () => {
    assert.deepEqual(marked('Das Café liegt an der Straße, cafe\u0301 noir.', 'cafe strasse'), [
      'Das <Café> liegt an der <Straße>, <cafe\u0301> noir.',
    ])
    assert.deepEqual(marked('An ﬁsh ＡＢＣ and 𝐁old', 'fish abc bold'), ['An <ﬁsh> <ＡＢＣ> and <𝐁old>'])
    assert.deepEqual(marked('Ещё ёлка', 'еще елка'), ['<Ещё> <ёлка>'])
  })

  test('marks characters of scripts without spaces inside a run', () => {
    assert.deepEqual(marked('私は東京都に住む', '東京'), ['私は<東京>都に住む'])
    assert.deepEqual(marked('私は東京都に住む', '東京都'), ['私は<東京都>に住む'])
    assert.deepEqual(marked('私は東京都に住む', '都'), ['私は東京<都>に住む'])
    assert.deepEqual(marked('ｶﾞｷﾞとiPhone東京15', 'ガギ iphone'), ['<ｶﾞｷﾞ>と<iPhone>東京15'])
    assert.deepEqual(marked('대한민국', '민국'), ['대한<민국>'])
  })

  test('marks other forms of an English word by its stem', () => {
    const question = asked({ kind: 'word', word: 'running', stem: 'run' })
    assert.deepEqual(marked('He runs, she was running, rust', question), ['He <runs>, she was <running>, rust'])
  })

  test('marks a phrase only where its words stand side by side', () => {
    const question = asked({ kind: 'phrase', words: ['cold', 'brew'], isBeginning: false })
    assert.deepEqual(marked('cold, hot brew; a Cold\nbrew. Brew cold.', question), [
      'cold, hot brew; a <Cold>\n<brew>. Brew cold.',
    ])
  })

  test('does not mark what was excluded', () => {
    const question = asked({
      kind: 'and',
      parts: [
        { kind: 'word', word: 'tea', stem: null },
        { kind: 'not', part: { kind: 'word', word: 'milk', stem: null } },
      ],
    })
    assert.deepEqual(marked('tea and milk', question), ['<tea> and milk'])
  })

  test('of a long text is the stretches with the most words, cut at blanks', () => {
    const filler = 'lorem ipsum dolor sit amet '.repeat(100)
    const [first, second, ...more] = marked(`${filler}alpha ${filler}alpha beside beta ${filler}`, 'alpha beta')
    assert.match(first as string, /^\S.* <alpha> .*\S$/)
    assert.match(second as string, /<alpha> beside <beta>/)
    assert.deepEqual(more, [])
    assert.ok((first as string).length < 300)
  })

  test('never cuts a character in two', () => {
    for (let shift = 0; shift < 4; shift++) {
      const text = `${'x'.repeat(shift)}${'😀'.repeat(300)} word ${'😀'.repeat(300)}`
      for (const shown of marked(text, 'word')) assert.ok(shown.isWellFormed())
    }
  })

  test('names the title and the tags, and the permalink only where nothing else has the words', () => {
    const texts = { title: 'Brewing', tags: ['brew', 'hot'], permalink: 'main/brewing', content: 'nothing' }
    assert.deepEqual(snippetsOf(texts, parseQuestion('brew')), [
      { field: 'title', text: 'Brewing', highlights: [[0, 7]] },
      { field: 'tags', text: 'brew, hot', highlights: [[0, 4]] },
    ])
    assert.deepEqual(snippetsOf(texts, parseQuestion('main')), [
      { field: 'permalink', text: 'main/brewing', highlights: [[0, 4]] },
    ])
    assert.deepEqual(snippetsOf(texts, parseQuestion('else')), [])
  })

  test('is found in any text without an error', () => {
    const texts = [
      '',
      '\0',
      '\ud800word\udc00',
      'word'.repeat(10_000),
      '東'.repeat(50_000),
      'é'.repeat(50_000),
      '\u0301'.repeat(1_000),
    ]
    for (const text of texts) {
      for (const question of ['word', '東京', 'e', '\ud800']) {
        for (const { highlights, text: shown } of snippetsOf(
          { title: text, tags: [], permalink: null, content: text },
          parseQuestion(question),
        )) {
          for (const [start, end] of highlights) assert.ok(0 <= start && start < end && end <= shown.length)
        }
      }
    }
  })
})
