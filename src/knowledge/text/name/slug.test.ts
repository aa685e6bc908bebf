import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { fileTypeStart } from './file-type.ts'
import { plainLatin } from './latin.ts'
import { joinedSlug, permalinkFor, slug } from './slug.ts'

const CODE_POINT = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code))

const TEXT = fc.oneof(
  fc.string({ unit: CODE_POINT }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom(..."aZ0 -_./\\'’.md!é中か。Σ\u0301\u200b，A🎉ß"), maxLength: 30 }),
)

describe('slug', () => {
  test('keeps ideographs apart from other letters, from the first to the last of them', () => {
    for (const kept of ['\u3001', '\u303f', '\u3400', '\u4dbf', '\u4e00', '\u9fff', '\u{20000}', '\u{323af}']) {
      assert.equal(slug(`a${kept}b`), `a-${kept}-b`)
    }
    for (const sign of ['\u3000', '\u33ff', '\u4dc0']) assert.equal(slug(`a${sign}b`), 'a-b')
  })

  test('leaves out every kind of apostrophe', () => {
    for (const sign of "'\u2018\u2019\u201b\u02bb\u02bc") assert.equal(slug(`Jürgen${sign}s`), 'jurgens')
  })

  test('makes what the contract lists', () => {
    const vectors = {
      'docs/My Feature.md': 'docs/my-feature',
      'specs/API (v2).md': 'specs/api-v2',
      'test/TestV2Entity.md': 'test/test-v2-entity',
      "papers/Jürgen's Findings.md": 'papers/jurgens-findings',
      'research/Søren Kierkegård.md': 'research/soren-kierkegard',
      '中文/测试文档.md': '中文/测试文档',
      'docs/中文 English Mixed.md': 'docs/中文-english-mixed',
      'projects/中文CamelCase测试.md': 'projects/中文-camel-case-测试',
      'punctuation/你好，世界!.md': 'punctuation/你好世界',
      'MIXED_CASE_NAME.md': 'mixed-case-name',
    }
    for (const [text, expected] of Object.entries(vectors)) assert.equal(slug(text), expected)
  })

  test('drops the extension of a known file type only', () => {
    const vectors = {
      'Version 2.0.0': 'version-2.0.0',
      'a.MD': 'a',
      'a.markdown': 'a',
      'b\\plan.docx': 'b/plan',
      'x.tar.zip': 'x.tar',
      'x.unknown': 'x.unknown',
      'x.md.md': 'x.md',
      'folder.md/x': 'folder.md/x',
      '.md': '.md',
      'a/.md': 'a/.md',
      md: 'md',
      'x.': 'x.',
    }
    for (const [text, expected] of Object.entries(vectors)) assert.equal(slug(text), expected, text)
  })

  test('writes Latin letters with marks in ASCII, composed or not', () => {
    assert.equal(slug('é ø ß æ đ ł þ Œ ẞ Þ İ ı ﬃ ệ q̃'), 'e-o-ss-ae-d-l-th-oe-ss-th-i-i-ffi-e-q')
    assert.equal(slug('Café'.normalize('NFD')), 'cafe')
    assert.equal(slug('ÆSIR and ÞOR'), 'aesir-and-thor')
    assert.equal(slug('coÉtude'), 'co-etude')
  })

  test('keeps other scripts in lower case and NFC', () => {
    assert.equal(slug('Привет Мир'), 'привет-мир')
    assert.equal(slug('ΟΔΟΣ Αθήνα'), 'οδος-αθήνα')
    assert.equal(slug('한국어 노트'.normalize('NFD')), '한국어-노트')
    assert.equal(slug('ひらがなガ'.normalize('NFD')), 'ひらがなガ')
    assert.equal(slug('हिन्दी नोट'), 'हिन्दी-नोट')
    assert.equal(slug('مرحبا بالعالم'), 'مرحبا-بالعالم')
    assert.equal(slug('שלום'), 'שלום')
  })

  test('divides ideographs from ASCII and blanks of every width', () => {
    assert.equal(slug('第1章Intro'), '第-1-章-intro')
    assert.equal(slug('甲\u3000乙'), '甲-乙')
    assert.equal(slug('甲。乙'), '甲。乙')
    assert.equal(slug('ＡＢＣ中'), '中')
  })

  test('removes apostrophes and what cannot be seen', () => {
    assert.equal(slug("don't O’Neil ʻokina"), 'dont-oneil-okina')
    assert.equal(slug("ADA'S Ada'S"), 'adas-adas')
    assert.equal(slug("甲'a’乙"), '甲-a-乙')
    assert.equal(slug('ad\u200bmin co\u00adop \ufeffx'), 'admin-coop-x')
    assert.equal(slug('heart ❤\ufe0f key 1\ufe0f\u20e3'), 'heart-key-1')
  })

  test('strips hyphens from the ends of segments and joins slashes', () => {
    assert.equal(slug('/-docs-//--a  b--/'), 'docs/a-b')
    assert.equal(slug('\\docs\\a'), 'docs/a')
  })

  test('marks a segment of which nothing is left, and is empty when nothing at all is left', () => {
    assert.equal(slug('🎉/x.md'), '-/x')
    assert.equal(slug('docs/🎉.md'), 'docs/-')
    assert.equal(slug('../x'), '-/x')
    for (const text of ['', '🎉', '🎉/🚀.md', '///', '...', '. .', '-/-', "'"]) assert.equal(slug(text), '', text)
  })

  test('applied to what it made changes nothing, unless that ends in a file type again', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const once = slug(text)
        if (fileTypeStart(once) === once.length) assert.equal(slug(once), once)
      }),
      { numRuns: 500 },
    )
  })

  test('is made of words joined by single hyphens, whatever comes in', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const made = slug(text)
        assert.ok(made.isWellFormed())
        assert.equal(made, made.normalize('NFC'))
        assert.doesNotMatch(made, /--|\/\/|^\/|\/$|[A-Z\s\\_']|[^/]-\/|\/-[^/]/u)
        for (const segment of made.split('/')) assert.doesNotMatch(segment, /^\.+$/)
      }),
      { numRuns: 500 },
    )
  })

  test('is the same by the short way for ASCII and by the rule in full', () => {
    const ascii = fc.string({
      unit: fc.oneof(fc.constantFrom(..."aZ0 -_./\\'!"), fc.string({ minLength: 1, maxLength: 1 })),
    })
    fc.assert(
      fc.property(ascii, (text) => {
        // An invisible character counts for nothing, but sends the text the long way.
        assert.equal(slug(`a\u2060${text}`), slug(`a${text}`))
        assert.equal(joinedSlug(`a\u2060${text}`), joinedSlug(`a${text}`))
      }),
      { numRuns: 1000, examples: [[''], ['/'], ['!/a'], ['a/!'], ['a/.'], ["a'B/c'"]] },
    )
  })
})

describe('joinedSlug', () => {
  test('is the slug without its hyphens', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        assert.equal(joinedSlug(text), slug(text).replaceAll('-', ''))
      }),
      { numRuns: 500 },
    )
  })
})

describe('plainLatin', () => {
  test('knows a letter in both cases or in neither', () => {
    for (let code = 0x80; code < 0xffff; code++) {
      const letter = String.fromCharCode(code).normalize('NFC')
      const small = letter.toLowerCase()
      if (small.length !== 1 || small === letter || /[a-z]/.test(small)) continue
      assert.equal(plainLatin(letter.charCodeAt(0))?.toLowerCase(), plainLatin(small.charCodeAt(0)), letter)
    }
  })
})

describe('permalinkFor', () => {
  const project = { permalink: 'main' }
  const id = '1a2B3c4d-0000-7000-8000-000000000000'

  test('begins with the project unless the path does or nobody wants it', () => {
    assert.equal(permalinkFor(project, 'docs/My Feature.md', id, true), 'main/docs/my-feature')
    assert.equal(permalinkFor(project, 'main/x.md', id, true), 'main/x')
    assert.equal(permalinkFor(project, 'Main/X.md', id, true), 'main/x')
    assert.equal(permalinkFor(project, 'mainframe/x.md', id, true), 'main/mainframe/x')
    assert.equal(permalinkFor(project, 'main.md', id, true), 'main/main')
    assert.equal(permalinkFor(project, 'docs/x.md', id, false), 'docs/x')
  })

  test('names segments without a letter after the note', () => {
    assert.equal(permalinkFor(project, 'docs/🎉.md', id, true), 'main/docs/note-1a2B3c4d')
    assert.equal(permalinkFor(project, '🚀/a-/🎉.md', id, false), 'note-1a2B3c4d/a/note-1a2B3c4d')
  })
})
