import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import * as blockCsv from './block-csv.ts'
import { blockToCsv, CSV_HEADER } from './block-csv.ts'
import * as csv from './csv.ts'
import { PAUSE, writeCsv } from './csv.ts'
import { SEVERITIES } from './domain-block.ts'
import { stepsOf } from './import-blocks.ts'
import { normaliseDomain } from './normalise-domain.ts'

const field = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.array(fc.constantFrom('"', ',', '\n', '\r', ' ', 'a'), { maxLength: 8 }).map((parts) => parts.join('')),
)

const readCsv = (text: string) => [...csv.readCsv(text)].filter((record) => record !== PAUSE)
const readBlockLines = (text: string) => [...blockCsv.readBlockLines(text)].filter((line) => line !== PAUSE)

describe('comma-separated values', () => {
  test('what was written is what is read, with the line at which it begins', () => {
    // One empty field is an empty line, which is left out.
    const record = fc.array(field, { minLength: 1, maxLength: 6 }).filter((fields) => fields.join('') !== '')
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), (records) => {
        const texts = records.map(writeCsv)
        const read = [...readCsv(texts.join(''))]
        assert.deepEqual(
          read.map((one) => 'fields' in one && one.fields),
          records,
        )
        let line = 1
        for (const [index, text] of texts.entries()) {
          assert.equal(read[index]?.line, line)
          line += text.replaceAll('\r\n', '\n').split(/[\r\n]/).length - 1
        }
      }),
    )
  })

  test('reads any text to its end', () => {
    fc.assert(
      fc.property(
        fc.array(field).map((parts) => parts.join(',')),
        (text) => {
          for (const record of readCsv(text)) assert.ok('fields' in record || record.problem !== '')
        },
      ),
    )
  })

  test('line ends of every kind, a byte order mark, and no line end at the end', () => {
    const read = [...readCsv('\ufeffa,b\r\nc\rd\n\n\r\n"e\r\nf",g')]
    assert.deepEqual(read, [
      { line: 1, fields: ['a', 'b'] },
      { line: 2, fields: ['c'] },
      { line: 3, fields: ['d'] },
      { line: 6, fields: ['e\r\nf', 'g'] },
    ])
  })

  test('a bad line is reported and the next one is read', () => {
    const read = [...readCsv('"a"b,c\nd\n')]
    assert.deepEqual(read, [
      { line: 1, problem: 'goes on after a closing quotation mark' },
      { line: 2, fields: ['d'] },
    ])
    assert.deepEqual(
      [...readCsv('a\n"b\nc')],
      [
        { line: 1, fields: ['a'] },
        { line: 2, problem: 'has a quotation mark that is never closed' },
      ],
    )
    assert.equal([...readCsv(`${','.repeat(100_000)}\na`)].length, 2)
  })

  test('a line that is longer than any has a reason to be is reported, and the next one is read', () => {
    for (const field of [
      '"'.repeat(70_000),
      `"${'a\n'.repeat(40_000)}"`,
      'a'.repeat(70_000),
      `a,"b",${' '.repeat(65_600)}`,
    ]) {
      const [long, next, ...more] = readCsv(`${field}\nb`)
      assert.deepEqual(long, { line: 1, problem: 'has more than 65536 characters' })
      assert.deepEqual([next, more], [{ line: field.split('\n').length + 1, fields: ['b'] }, []])
    }
  })

  test('others have their turn while much is read, also where that is nothing', () => {
    for (const piece of ['a\n', '\n', '""\n', `"${'""'.repeat(3_000)}"\n`]) {
      const text = piece.repeat(Math.ceil(100_000 / piece.length))
      const turns = [...blockCsv.readBlockLines(text)].filter((line) => line === PAUSE).length
      assert.ok(turns >= 10, `${turns} turns in lines of ${piece.slice(0, 9)}`)
    }
  })

  test('a text made to be slow is not', () => {
    for (const piece of ['"', '""', ',', '"a",', '\n', '\r', '"\n'])
      for (const record of readCsv(piece.repeat(200_000))) assert.ok(record.line > 0)
  })
})

describe('lists of blocks', () => {
  const domain = fc
    .domain()
    .map((text) => normaliseDomain(text))
    .filter((text) => text !== undefined)
  const comment = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !/\p{Cc}/u.test(text))
  const block = fc.record({
    id: fc.nat(),
    domain,
    severity: fc.constantFrom(...SEVERITIES),
    rejectMedia: fc.boolean(),
    rejectReports: fc.boolean(),
    privateComment: fc.constant(''),
    publicComment: fc.oneof(comment, fc.constant('a "b", c\nd')),
    obfuscate: fc.boolean(),
    createdAt: fc.constant(0),
  })

  test('what was exported is what is imported', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 8 }), (blocks) => {
        const read = [...readBlockLines(CSV_HEADER + blocks.map(blockToCsv).join(''))]
        assert.deepEqual(
          read.map((line) => ('rules' in line ? { domain: line.domain, ...line.rules } : line)),
          blocks.map(({ id: _, createdAt: __, ...rules }) => rules),
        )
      }),
    )
  })

  test('the header is that of other servers', () => {
    assert.equal(CSV_HEADER, '#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\n')
  })

  test('columns in any order, with and without the sign, unknown ones ignored; or a plain list of domains', () => {
    const [line] = readBlockLines('x,Severity,#DOMAIN\n1,Suspend,Example.com\n')
    assert.ok(line !== undefined && 'rules' in line)
    assert.deepEqual([line.line, line.domain, line.rules.severity], [2, 'example.com', 'suspend'])
    const plain = [...readBlockLines('a.example\nb.example\n')]
    assert.deepEqual(
      plain.map((one) => 'rules' in one && [one.domain, one.rules.severity]),
      [
        ['a.example', 'silence'],
        ['b.example', 'silence'],
      ],
    )
  })

  test('a list whose header was cut off means what it did with it', () => {
    const list = 'a.example\nb.example,suspend\nc.example,noop,true,true,"spam, mostly",true\n'
    assert.deepEqual(
      [...readBlockLines(list)].map((one) => ({ ...one, line: one.line + 1 })),
      [...readBlockLines(CSV_HEADER + list)],
    )
    const [, b, c] = readBlockLines(list)
    assert.equal(b !== undefined && 'rules' in b && b.rules.severity, 'suspend')
    assert.equal(c !== undefined && 'rules' in c && c.rules.publicComment, 'spam, mostly')
  })

  test('a header that names no domains is a bad line, and no domain', () => {
    const [header, line] = readBlockLines('instance,severity\na.example,suspend\n')
    assert.ok(header !== undefined && 'problem' in header)
    assert.match(header.problem, /severity must be one of/)
    assert.equal(line !== undefined && 'rules' in line && line.rules.severity, 'suspend')
  })

  test('each bad line says everything that is wrong with it', () => {
    const text = `domain,severity,reject_media,public_comment\nbad domain,hard,maybe,${'x'.repeat(5_001)}\n,,,\nexample.com,,,\n"\n`
    const problems = [...readBlockLines(text)].map((line) =>
      'problem' in line ? [line.line, line.problem] : line.line,
    )
    assert.deepEqual(problems, [
      [
        2,
        'domain is not a valid domain name, severity must be one of noop, silence, suspend, reject_media must be true or false, public_comment must have at most 5000 characters',
      ],
      [3, 'domain must not be empty'],
      4,
      [5, 'has a quotation mark that is never closed'],
    ])
  })

  test('domains are looked up some at a time, fewer of those with many labels', () => {
    for (const [labels, most] of [
      [1, 2_000],
      [100, 20],
    ] as const) {
      const names = Array.from({ length: 5_000 }, (_, n) => `${'a.'.repeat(labels - 1)}d${n}`)
      const lines = readBlockLines(names.join('\n')).filter((line) => 'rules' in line)
      const steps = [...stepsOf(lines)]
      assert.deepEqual(
        steps.flatMap((step) => step.lines),
        lines,
      )
      assert.equal(lines.length, names.length)
      assert.equal(Math.max(...steps.map((step) => step.lines.length)), most)
    }
  })
})
