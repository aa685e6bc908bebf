import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isAppError } from '../../../platform/errors/app-error.ts'
import {
  cleanDestination,
  cleanDirectory,
  cleanDirectoryForDelete,
  cleanExistingDirectory,
  fileNameFor,
  fileNameOf,
  folderOf,
  hasFileType,
  joinPath,
  stemOf,
} from './path.ts'

const CODE_POINT = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code))

function between(slash: string): string {
  return `x${slash}..${slash}y`
}

const ENTRANCES = {
  cleanDirectory: (path: string) => cleanDirectory(path, 'directory'),
  cleanExistingDirectory: (path: string) => cleanExistingDirectory(path, 'source_directory'),
  cleanDirectoryForDelete,
  cleanDestination,
}

const UPWARD = [
  '..',
  '../x',
  'a/..',
  'a/../b',
  'a\\..\\b',
  '..\\x',
  '.. ',
  'a/.. /b',
  'a/ ../b',
  '...',
  '....//x',
  'a/.../b',
  '. .',
  'a/. ./b',
  '..\u200b',
  '.\u200b./x',
  '\ufeff../x',
  'a/..\u00ad/b',
  '..\u00a0/x',
  '．．/x',
  'a／．．／b',
  '..／x',
  '..＼x',
  '‥/x',
  'a/…/b',
  '․․/x',
  '﹒﹒/x',
  '..∕x',
  '..⁄x',
  '..⧸x',
  '..∖x',
  '..⧵x',
  '..﹨x',
  '%2e%2e/x',
  '%2E%2E%2Fx',
  '..%2fx',
  '..%5cx',
  '%2e./x',
  '.%2e/x',
  '%252e%252e%252fx',
  '%25252e%25252e/x',
  '..%c0%afx',
  '%c0%ae%c0%ae/x',
  '..%c1%9cx',
  '%e0%80%ae%e0%80%ae/x',
  '..%e0%80%afx',
  '%f0%80%80%ae%f0%80%80%ae/x',
  '%u002e%u002e/x',
  '..%u2215x',
  '%uff0e%uff0e/x',
  '..%00/x',
  '％2e％2e/x',
  'a/\u3000..\u3000/b',
  'a/\u00a0..\u00a0/b',
  // In the middle of a name, where nothing else is wrong with it.
  ...['∕', '⁄', '⧸', '∖', '⧵', '%2f', '%5c', '%c0%af', '%c1%9c', '%e0%81%9c', '%f0%80%81%9c'].map(between),
  ...['%u002f', '%u005c', '%u2215', '%u2216', '%uff0f', '%uff3c'].map(between),
]
const ABSOLUTE = [
  '\\x',
  '\\\\server\\share',
  '//server/share',
  '\\\\?\\C:\\x',
  '\\\\.\\pipe\\x',
  '/\\server\\x',
  'C:\\x',
  'C:/x',
  'c:x',
  'C:',
  '/C:/x',
]
const OTHERWISE = [
  '~',
  '~/x',
  '~root/x',
  'a/~/b',
  'a/~b',
  'a\\~b',
  '\u200b~x',
  'a\u0000b',
  'a\u0007b',
  'a\tb',
  'x\n',
  'a\r\nb',
  'a\u007fb',
  'a\u0085b',
  'a\u2028b',
  'a\u202eb',
  'a\u2066b',
  'a\ud800b',
  '\udc00',
]
const UNFIT = [
  'CON',
  'con',
  'a/PRN/b',
  'Aux',
  'NUL.txt',
  'nul.tar.md',
  'COM1',
  'lpt9.md',
  'COM1 .md',
  'COM¹',
  'LPT³.txt',
  'CONIN$',
  'a/x /b',
  'a/x./b',
  'a/.git/b',
  '.hidden',
  'x'.repeat(256),
  `a/${'é'.repeat(128)}`,
  `a/${'中'.repeat(86)}/b`,
  `${'a/'.repeat(250)}bc`,
  'x/'.repeat(1_000_000),
]

describe('every path that comes in', () => {
  for (const [name, clean] of Object.entries(ENTRANCES)) {
    test(`${name} refuses what climbs, is absolute, or cannot be written everywhere`, () => {
      for (const path of [...UPWARD, ...ABSOLUTE, ...OTHERWISE, ...UNFIT]) {
        // In a folder to be made, `$` is left out like any other sign.
        if (name === 'cleanDirectory' && path === 'CONIN$') continue
        assert.throws(
          () => clean(path),
          (error) => isAppError(error, 'invalid_argument') && error.message.length < 400,
          JSON.stringify(path.slice(0, 40)),
        )
      }
    })

    test(`${name} gives what it would give again, and never a way out`, () => {
      const unit = fc.constantFrom(...'ab.. ~/\\:%2eE5cfC\t．／…\u200b\u0000é\u0301中🎉()!-_')
      const path = fc.oneof(fc.string({ unit, maxLength: 20 }), fc.string({ unit: CODE_POINT }), fc.string())
      fc.assert(
        fc.property(path, (raw) => {
          const cleaned = result(() => clean(raw))
          if (cleaned === undefined || cleaned === '') return
          assert.equal(clean(cleaned), cleaned)
          assert.equal(cleaned.normalize('NFC'), cleaned)
          for (const segment of cleaned.split('/')) {
            assert.notEqual(segment, '')
            assert.doesNotMatch(segment, /^\.|^~|[. ]$|[\\:\p{Cc}\p{Cs}]/u)
          }
        }),
        { numRuns: 1000 },
      )
    })
  }

  test('may have dots, percent signs and letters of any script inside its names', () => {
    const good = [
      'hi..there.md',
      'a..b/c',
      'v1.2/x',
      '100% sure.md',
      'a~b',
      '日本／語.md',
      'Wait… what.md',
      'CONtext.md',
      'Bacon.md',
      'Icon/Annul.md',
    ]
    for (const path of [
      ...good,
      'com10.md',
      'ノート/メモ.md',
      '～について.md',
      'می\u200cخواهم.md',
      '👨\u200d👩\u200d👧.md',
    ]) {
      assert.equal(cleanDestination(path), path)
      assert.equal(cleanExistingDirectory(path, 'directory'), path)
    }
  })

  test('is stored in NFC, with single slashes and without "."', () => {
    assert.equal(cleanDestination('./a//b/./Cafe\u0301.md'), 'a/b/Café.md')
    assert.equal(cleanDestination(' a\\b.md\t'), 'a/b.md')
    assert.equal(cleanDestination('a/'), 'a')
    assert.equal(cleanDestination('./ a/ b.md'), 'a/ b.md')
    assert.throws(() => cleanDestination('./ /a.md'))
  })

  test('has at most 500 characters and 255 bytes in a segment', () => {
    const longest = `${'a/'.repeat(248)}b.md`
    assert.equal(cleanDestination(longest).length, 500)
    assert.throws(() => cleanDestination(`a${longest}`))
    assert.equal(cleanDirectory('🎉a/'.repeat(160), 'directory'), 'a/'.repeat(160).slice(0, -1))
    assert.equal(cleanDestination('x'.repeat(252)).length, 252, 'room for .md')
    assert.throws(() => cleanDestination('x'.repeat(253)))
    assert.equal(cleanDestination(`${'é'.repeat(126)}.md`).length, 129)
  })
})

describe('cleanDirectory', () => {
  test('strips one slash at each end and gives the root for nothing', () => {
    assert.equal(cleanDirectory('/docs', 'directory'), 'docs')
    assert.equal(cleanDirectory('docs/', 'directory'), 'docs')
    assert.equal(cleanDirectory('/docs/a/', 'directory'), 'docs/a')
    for (const root of ['', '/', '.', './', '  ', './.']) assert.equal(cleanDirectory(root, 'directory'), '')
  })

  test('leaves out the characters that folder names do not have', () => {
    assert.equal(cleanDirectory('docs (old)/What: now?', 'directory'), 'docs old/What now')
    assert.equal(cleanDirectory('docs !', 'directory'), 'docs')
    assert.equal(cleanDirectory('🎉/x', 'directory'), 'x')
    assert.equal(cleanDirectory('Café_1.5-b/हिन्दी', 'directory'), 'Café_1.5-b/हिन्दी')
  })

  test('judges again what is left', () => {
    for (const path of ['.!.', '..!', '!.git', 'CON!', 'a/x.!']) {
      assert.throws(() => cleanDirectory(path, 'directory'), /directory/, path)
    }
  })

  test('names the field and the path', () => {
    assert.throws(
      () => cleanDirectory('a/../b', 'destination_directory'),
      /^AppError: destination_directory 'a\/..\/b' /,
    )
  })
})

describe('cleanExistingDirectory', () => {
  test('takes every character for what it is', () => {
    assert.equal(cleanExistingDirectory('/C++/', 'source_directory'), 'C++')
    assert.equal(cleanExistingDirectory('docs (old)', 'source_directory'), 'docs (old)')
    assert.equal(cleanExistingDirectory('/', 'source_directory'), '')
  })
})

describe('cleanDirectoryForDelete', () => {
  test('refuses the root in every spelling and a leading slash', () => {
    for (const root of ['', ' ', '/', '.', './', './.', '//', '\\', '.\\']) {
      assert.throws(() => cleanDirectoryForDelete(root), /directory/, root)
    }
    assert.throws(() => cleanDirectoryForDelete('/docs'), /absolute/)
    assert.equal(cleanDirectoryForDelete('docs/a/'), 'docs/a')
    assert.equal(cleanDirectoryForDelete('C++'), 'C++')
  })
})

describe('cleanDestination', () => {
  test('says that the destination path is invalid, and why', () => {
    const signs = [...'<>:"|?*'].map((sign) => `a${sign}b.md`)
    for (const path of ['', '  ', '/x.md', '../x.md', '.', 'a:b.md', 'what?.md', 'CON.md', 'a\u0000.md', ...signs]) {
      assert.throws(() => cleanDestination(path), /^AppError: Invalid destination path/, path)
    }
  })

  test('lets "./" be the root folder', () => {
    assert.equal(cleanDestination('./'), '')
  })
})

describe('fileNameFor', () => {
  test('makes a name that every file system can write', () => {
    const names = {
      'Coupon Enable/Disable': 'Coupon Enable-Disable.md',
      'a\\b<c>d:e"f|g?h*i': 'a-b-c-d-e-f-g-h-i.md',
      'a//b -- c': 'a-b - c.md',
      'Trailing period.': 'Trailing period.md',
      '.hidden-': 'hidden.md',
      'What?': 'What.md',
      'Version 2.0.0': 'Version 2.0.0.md',
      'a\nb\u0000c': 'a-b-c.md',
      'ad\u200bmin\u202e': 'admin.md',
      'Cafe\u0301': 'Café.md',
      '🎉': '🎉.md',
      'C++': 'C++.md',
      '../../etc/passwd': 'etc-passwd.md',
      '日本／語': '日本／語.md',
    }
    for (const [title, name] of Object.entries(names)) assert.equal(fileNameFor(title, false), name)
  })

  test('slugs the title where kebab-case is wanted and keeps version numbers', () => {
    assert.equal(fileNameFor('My Feature', true), 'my-feature.md')
    assert.equal(fileNameFor('Version 2.0.0', true), 'version-2.0.0.md')
    assert.equal(fileNameFor('TestV2Entity', true), 'test-v2-entity.md')
    assert.equal(fileNameFor('notes.py', true), 'notes.py.md')
    assert.equal(fileNameFor('Enable/Disable.', true), 'enable-disable.md')
    assert.equal(fileNameFor('🎉', true), '🎉.md')
  })

  test('refuses a title of which nothing is left, as unprocessable', () => {
    for (const title of ['', ' ', '...', '-.-', '???', '\u200b', '/']) {
      assert.throws(
        () => fileNameFor(title, false),
        (error) => isAppError(error, 'unprocessable'),
        title,
      )
    }
  })

  test('refuses reserved names', () => {
    for (const title of ['CON', 'aux', 'Com1', 'nul.x']) {
      assert.throws(
        () => fileNameFor(title, false),
        (error) => isAppError(error, 'invalid_argument'),
        title,
      )
    }
  })

  test('is the beginning of a long title and a mark that tells it from others', () => {
    assert.equal(fileNameFor('x'.repeat(252), false), `${'x'.repeat(252)}.md`)
    for (const title of ['x'.repeat(253), '中'.repeat(85), '🎉a'.repeat(250)]) {
      const name = fileNameFor(title, false)
      assert.ok(Buffer.byteLength(name) <= 255, name)
      assert.match(name, /-[0-9a-f]{8}\.md$/)
      assert.ok(name.startsWith(title.slice(0, 60)), name)
      assert.ok(name.isWellFormed())
      assert.notEqual(name, fileNameFor(`${title}y`, false))
    }
  })

  test('is a destination that a note could be moved to, whatever the title', () => {
    const unit = fc.constantFrom(...'ab.. /\\:%2e?*-\t\n．／…\u200bé\u0301中🎉')
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit }), fc.string({ unit: CODE_POINT })), fc.boolean(), (title, kebab) => {
        const name = result(() => fileNameFor(title, kebab))
        if (name === undefined || name.startsWith('~')) return
        assert.equal(cleanDestination(name), name)
        assert.ok(!name.includes('/'))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('parts of a path', () => {
  test('come apart and together', () => {
    assert.equal(joinPath('', 'x.md'), 'x.md')
    assert.equal(joinPath('a/b', 'x.md'), 'a/b/x.md')
    assert.throws(() => joinPath('a/'.repeat(249).slice(0, -1), 'xyz.md'), /500/)
    assert.deepEqual([folderOf('a/b/x.md'), folderOf('x.md')], ['a/b', ''])
    assert.deepEqual([fileNameOf('a/b/x.md'), fileNameOf('x.md')], ['x.md', 'x.md'])
    assert.deepEqual([stemOf('a/b/x.md'), stemOf('Version 2.0.md'), stemOf('a.b/Dr. X')], ['x', 'Version 2.0', 'Dr. X'])
  })

  test('a file type is told from dots in a name', () => {
    for (const path of ['a/plan.pdf', 'x.MD', 'x.7z', 'a.b.txt']) assert.ok(hasFileType(path), path)
    for (const path of ['x', 'Version 2.0', 'Dr. Who', 'a.b/x', '.gitignore', 'x.', 'Mr.Smith jr'])
      assert.ok(!hasFileType(path), path)
  })
})

function result(make: () => string): string | undefined {
  try {
    return make()
  } catch (error) {
    if (isAppError(error)) return undefined
    throw error
  }
}
