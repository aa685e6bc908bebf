import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { phraseWords } from '../question/phrase-words.ts'
import { parseQuestion, type Question, relaxed } from '../question/question.ts'
import { indexWords, unspacedLetters } from '../words/search-text.ts'
import { type Snippet, snippetsOf } from './snippets.ts'

const marked = (content: string, question: string | Question, title = '') => {
  const asked = typeof question === 'string' ? parseQuestion(question) : question
  return snippetsOf({ title, tags: [], permalink: null, content }, asked).map(({ text, highlights }) =>
    highlights.toReversed().reduce((shown, [start, end]) => {
      return `${shown.slice(0, start)}<${shown.slice(start, end)}>${shown.slice(end)}`
    }, text),
  )
}

const asked = (tree: Question['tree']): Question => ({ ...parseQuestion(''), tree })

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

  test('marks signs that stand for letters or numbers', () => {
    assert.deepEqual(marked('Take ½ cup, 5 m², 30㎏ or №7.', '"½" m2 30kg no'), [
      'Take <½> cup, 5 <m²>, <30㎏> or <№7>.',
    ])
    assert.deepEqual(marked('任天堂㍿と会社', '株式会社'), ['任天堂<㍿>と会社'])
    assert.deepEqual(marked('任天堂㍿と会社', '堂株'), ['任天<堂㍿>と会社'])
    assert.deepEqual(marked('Acme™ and Ⓑ at 25℃', 'acme b 25'), ['<Acme™> and <Ⓑ> at <25℃>'])
  })

  test('marks words with what nobody sees inside or before them', () => {
    assert.deepEqual(marked('Das Donau\u00addampf\u00adschiff, \ufeffheute', 'donaudampfschiff heute'), [
      'Das <Donau\u00addampf\u00adschiff>, <\ufeffheute>',
    ])
    assert.deepEqual(marked('私は東\u2060京都に', '東京'), ['私は<東\u2060京>都に'])
  })

  test('marks characters of scripts without spaces inside a run', () => {
    assert.deepEqual(marked('私は東京都に住む', '東京'), ['私は<東京>都に住む'])
    assert.deepEqual(marked('私は東京都に住む', '東京都'), ['私は<東京都>に住む'])
    assert.deepEqual(marked('私は東京都に住む', '都'), ['私は東京<都>に住む'])
    assert.deepEqual(marked('ｶﾞｷﾞとiPhone東京15', 'ガギ iphone'), ['<ｶﾞｷﾞ>と<iPhone>東京15'])
    assert.deepEqual(marked('대한민국', '민국'), ['대한<민국>'])
  })

  const THAI = 'ฉันดื่มน้ำที่แม่น้ำใหญ่แล้วไปห้องสมุด'
  const UNSPACED: [content: string, question: string, shown: string][] = [
    [THAI, 'แม่น้ำ', 'ฉันดื่มน้ำที่<แม่น้ำ>ใหญ่แล้วไปห้องสมุด'],
    [THAI, 'น้ำ', 'ฉันดื่ม<น้ำ>ที่แม่<น้ำ>ใหญ่แล้วไปห้องสมุด'],
    [THAI, 'ใหญ่', 'ฉันดื่มน้ำที่แม่น้ำ<ใหญ่>แล้วไปห้องสมุด'],
    [THAI, 'ห้องสมุด', 'ฉันดื่มน้ำที่แม่น้ำใหญ่แล้วไป<ห้องสมุด>'],
    [THAI, '"ห้องสมุด"', 'ฉันดื่มน้ำที่แม่น้ำใหญ่แล้วไป<ห้องสมุด>'],
    [THAI, 'น้ำ ห้องสมุด', 'ฉันดื่ม<น้ำ>ที่แม่<น้ำ>ใหญ่แล้วไป<ห้องสมุด>'],
    [THAI, 'ที', 'ฉันดื่มน้ำ<ที่>แม่น้ำใหญ่แล้วไปห้องสมุด'],
    ['ขอ น\u0e49\u0e4d\u0e32 เย็น', 'น้ำ', 'ขอ <น\u0e49\u0e4d\u0e32> เย็น'],
    ['ខ្ញុំរៀនភាសាខ្មែរនៅផ្ទះ', 'ភាសា', 'ខ្ញុំរៀន<ភាសា>ខ្មែរនៅផ្ទះ'],
    ['ခင်ဗျားရေသောက်မလား', 'ရေ', 'ခင်ဗျား<ရေ>သောက်မလား'],
    ['ຂ້ອຍດື່ມນ້ຳພາຍໃນບ້ານ', 'ນ້ຳ', 'ຂ້ອຍດື່ມ<ນ້ຳ>ພາຍໃນບ້ານ'],
    ['大阪と東京、京都と大京', '東京', '大阪と<東京>、京都と大京'],
    ['東大と京都と東京都', '東京都', '東大と京都と<東京都>'],
    ['はは゛ハﾊﾞﾊﾟ', 'バ', 'はは゛ハ<ﾊﾞ>ﾊﾟ'],
    ['대한민국'.normalize('NFD'), '한민', `대<${'한민'.normalize('NFD')}>국`.normalize('NFD')],
    ['하ㅠㅠㅠ ㄱㅏ방', '하 가', '<하>ㅠㅠㅠ <ㄱㅏ>방'],
    ['𠮷野家と𠮷𠮷', '𠮷', '<𠮷>野家と<𠮷𠮷>'],
    ['あ゙い', 'い', 'あ゙<い>'],
  ]
  for (const [content, question, shown] of UNSPACED) {
    test(`marks all of ${question} and nothing beside it in ${content}`, () => {
      assert.deepEqual(marked(content, question), [shown])
    })
  }

  test('marks a phrase in several scripts only where all of it stands', () => {
    const text = 'iPhone東京15 東京 iPhone 東京都 大阪'
    assert.deepEqual(marked(text, '"iPhone東京15"'), ['<iPhone東京15> 東京 iPhone 東京都 大阪'])
    assert.deepEqual(marked(text, '"京都 大阪"'), ['iPhone東京15 東京 iPhone 東<京都> <大阪>'])
    assert.deepEqual(marked(text, '"東京 iphone 東"'), ['iPhone東京15 <東京> <iPhone> <東>京都 大阪'])
    assert.deepEqual(marked(text, '"東京 大阪"'), [])
  })

  test('where some of a question is enough, marks the words that are there as a whole', () => {
    const some = (text: string) => relaxed(parseQuestion(text)) as Question
    assert.deepEqual(marked(THAI, some('แม่น้ำ')), ['ฉันดื่มน้ำที่<แม่น้ำ>ใหญ่แล้วไปห้องสมุด'])
    assert.deepEqual(marked(THAI, some('ห้องสมุดโรงเรียน')), ['ฉันดื่มน้ำที่แม่น้ำใหญ่แล้วไป<ห้องสมุด>'])
    assert.deepEqual(marked('東京の天気', some('東京天気予報')), ['<東京>の<天気>'])
  })

  test('marks whole words and begins and ends with whole characters in a long run', () => {
    const word = 'ห้องสมุด'
    const content = `${'ที่นี่มีน้ำดื่มเย็นๆ'.repeat(40)}${word}${'กำลังไปที่แม่น้ำใหญ่'.repeat(40)}${word}${'ผู้คน'.repeat(100)}`
    for (let shift = 0; shift < 12; shift++) {
      const snippets = snippetsOf(
        { title: '', tags: [], permalink: null, content: `${'ก'.repeat(shift)}${content.slice(shift)}` },
        parseQuestion(word),
      )
      assert.equal(snippets.length, 2)
      for (const { text, highlights } of snippets) {
        assert.deepEqual(
          highlights.map(([start, end]) => text.slice(start, end)),
          [word],
        )
        assert.doesNotMatch(text, /^[\p{M}ำ]/u)
        assert.ok(!/^[\p{M}ำ]/u.test(content.slice(content.indexOf(text) + text.length)))
      }
    }
  })

  test('begins and ends with whole flags, families and syllables: half a flag beside another one is that of a third country', () => {
    for (const unit of ['🇩🇪', '👨‍👩‍👧', '👍🏽', '각'.normalize('NFD'), 'क्षि']) {
      for (let shift = 0; shift < 4; shift++) {
        const content = `${'x'.repeat(shift)} ${unit.repeat(50)} zebra ${'y'.repeat(shift)}${unit.repeat(100)}`
        const [found] = snippetsOf({ title: '', tags: [], permalink: null, content }, parseQuestion('zebra'))
        const rest = (found as Snippet).text.replaceAll(unit, '')
        assert.match(rest, /^x* ?zebra y*$/, unit)
      }
    }
  })

  test('marks every word once in a run with very many of them', () => {
    const [shown, ...more] = marked('น้ำแข็ง'.repeat(20_000), 'แข็ง')
    assert.match(shown as string, /^(น้ำ<แข็ง>)+/)
    assert.ok(more.length <= 2)
  })

  test('marks what was asked for, however it is written', () => {
    const letter = fc.constantFrom(
      ...'กนมญหอแใัี่้๊ำาຂນ້ຳສភាសខ្មရေသကက်東京都日はバパー한국ㄱㅏㅠ𠮷',
      'ﾊ',
      'ﾞ',
      '\u3099',
      '\u1112',
      '\u1161',
      '\u11ab',
    )
    const text = fc.string({ unit: letter, minLength: 1, maxLength: 12 })
    const form = fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD')
    fc.assert(
      fc.property(text, text, text, form, form, (before, asked, after, one, other) => {
        const content = `${before}${asked}${after}`.normalize(one)
        const letters = unspacedLetters(asked)
        const isThere = unspacedLetters(content).includes(letters) && !letters.includes(' ')
        const snippets = snippetsOf(
          { title: content, tags: [], permalink: null, content: '' },
          parseQuestion(asked.normalize(other)),
        )
        if (isThere) assert.equal(snippets.length, 1)
        for (const { text: shown, highlights } of snippets) {
          for (const [start, end] of highlights) {
            const marked = shown.slice(start, end)
            if (letters.includes(' ')) assert.ok(indexWords(marked).length > 0)
            else assert.ok(unspacedLetters(marked).includes(letters), `${marked} of ${content}`)
          }
        }
      }),
    )
  })

  test('marks a plain word of any script in a text of many, and nothing that does not have it', () => {
    const alphabets = 'Café cafe\u0301 Straße ﬁsh iPhone 15 😀 हिन्दी שָׁלוֹם Ёлка'
    const unspaced = '東京 京都 都 ガギ ｶﾞｷﾞ 민국 \u1106\u1175\u11ab น้ำ แม่น้ำ ใหญ่ ห้องสมุด ນ້ຳ ພາຍ ភាសា ខ្មែរ ရေ သောက်'
    const words = `${alphabets} ${unspaced}`.split(' ')
    const text = fc.array(fc.tuple(fc.constantFrom(...words), fc.constantFrom('', ' ', ', ', '。')), { maxLength: 20 })
    fc.assert(
      fc.property(text, fc.constantFrom(...words), (pieces, asked) => {
        const title = pieces.flat().join('')
        const [first = '', ...others] = phraseWords(asked)
        const has = (own: string) => {
          const kept = indexWords(own)
          return kept.some(
            (word, at) => word.startsWith(first) && others.every((other, next) => kept[at + 1 + next] === other),
          )
        }
        const snippets = snippetsOf({ title, tags: [], permalink: null, content: '' }, parseQuestion(asked))
        assert.equal(snippets.length, first !== '' && has(title) ? 1 : 0, `${asked} in ${title}`)
        for (const { highlights } of snippets) {
          for (const [start, end] of highlights) assert.ok(has(title.slice(start, end)), `${asked} in ${title}`)
        }
      }),
    )
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

  test('marks a phrase whose beginning repeats itself: all of it, and no beginning alone', () => {
    assert.deepEqual(marked('Bora is a wind. On Bora Bora, or bora bora bora, no bora.', '"bora bora"'), [
      'Bora is a wind. On <Bora> <Bora>, or <bora> <bora> <bora>, no bora.',
    ])
    assert.deepEqual(marked('alfa bravo alfa bravo alfa charlie', '"alfa bravo alfa charlie"'), [
      'alfa bravo <alfa> <bravo> <alfa> <charlie>',
    ])
    assert.deepEqual(marked('½, then ½ ½', '"½ ½"'), ['½, then <½> <½>'])
    assert.deepEqual(marked('東京 a 東京 a b', '"東京 a 東京 a b"'), ['<東京> <a> <東京> <a> <b>'])
    assert.deepEqual(marked('a 東 a 東 b', '"a 東 b"'), ['a 東 <a> <東> <b>'])
  })

  test('shows a phrase as a whole, also at the edge of a stretch', () => {
    for (let gap = 100; gap < 260; gap++) {
      const shown = marked(`cold brew ${'x'.repeat(gap)} cold brew ${'lorem ipsum '.repeat(60)}`, '"cold brew"')
      for (const text of shown) assert.doesNotMatch(text.replaceAll('<cold> <brew>', ''), /[<>]/, text)
      assert.ok(shown[0]?.startsWith('<cold> <brew>'))
    }
    const long = Array.from({ length: 32 }, (_, n) => `extraordinary${n}`).join(' ')
    assert.ok((marked(long, `"${long}"`)[0]?.match(/</g)?.length ?? 0) > 10)
  })

  test('marks all of a picture that is made of several, some of them alike', () => {
    assert.deepEqual(marked('Our 👩‍👩‍👧 here', '👩‍👩‍👧'), ['Our <👩‍👩‍👧> here'])
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

  test('names the path of a note where not even its permalink has the words, as after a move', () => {
    const texts = { title: 'Tea', tags: [], permalink: 'main/tea', path: 'drinks/hot/Tea.md', content: 'nothing' }
    assert.deepEqual(snippetsOf(texts, parseQuestion('hot drinks')), [
      {
        field: 'file_path',
        text: 'drinks/hot/Tea.md',
        highlights: [
          [0, 6],
          [7, 10],
        ],
      },
    ])
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
      '東京'.repeat(50_000),
      `ก${'้'.repeat(100_000)}ำ`,
      '้'.repeat(100_000),
      'ㅏ'.repeat(50_000),
      '\u1100\u1161\u11a8'.repeat(30_000),
      `東${'\u0301'.repeat(50_000)}京`,
      'あ゙'.repeat(50_000),
    ]
    const long = `${'ก'.repeat(31)}ข`
    for (const text of texts) {
      for (const question of ['word', '東京', 'e', '\ud800', 'ก', 'ก้', '각', 'あ', `"東京 京" ${long} "あ 東"`]) {
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
