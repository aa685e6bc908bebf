import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isAppError } from '../../../platform/errors/app-error.ts'
import { applyEdit, type Edit, type EditOperation } from './apply-edit.ts'

const BODY = '# T\n\n## A\nalpha\n\n## B\nbeta'
const HEAD = '---\n# a comment\ntitle:   T\ntype: note\npermalink: main/t\n---\n\n'
const SECTION_OPERATIONS = [
  'replace_section',
  'insert_before_section',
  'insert_after_section',
  'delete_section',
] as const

function edit(text: string, operation: EditOperation, rest: Partial<Edit> = {}): string {
  return applyEdit(text, { operation, content: '', ...rest })
}

function refusal(text: string, operation: EditOperation, rest: Partial<Edit> = {}): string {
  let message: string | undefined
  assert.throws(
    () => edit(text, operation, rest),
    (error) => {
      message = (error as Error).message
      return isAppError(error, 'invalid_argument')
    },
  )
  return message ?? ''
}

describe('append', () => {
  test('adds a line end only where there is none', () => {
    assert.equal(edit('a', 'append', { content: 'b' }), 'a\nb')
    assert.equal(edit('a\n', 'append', { content: 'b' }), 'a\nb')
    assert.equal(edit('a\r\n', 'append', { content: 'b\r\n' }), 'a\r\nb\r\n')
    assert.equal(edit(HEAD, 'append', { content: 'b' }), `${HEAD}b`)
    assert.equal(edit('', 'append', { content: 'b' }), 'b')
    assert.equal(edit('---\nt: 1\n---', 'append', { content: 'b' }), '---\nt: 1\n---\nb')
  })

  test('changes nothing without content', () => {
    assert.equal(edit(HEAD + BODY, 'append'), HEAD + BODY)
    assert.equal(edit('---\nt: 1\n---', 'prepend'), '---\nt: 1\n---')
    for (const operation of ['insert_before_section', 'insert_after_section'] as const) {
      assert.equal(edit(HEAD + BODY, operation, { section: 'B' }), HEAD + BODY)
    }
  })
})

describe('prepend', () => {
  test('puts the content after the frontmatter and the blank line that follows it', () => {
    assert.equal(edit(HEAD + BODY, 'prepend', { content: 'NEW' }), `${HEAD}NEW\n${BODY}`)
    assert.equal(edit(HEAD + BODY, 'prepend', { content: 'NEW\n\n' }), `${HEAD}NEW\n\n${BODY}`)
    assert.equal(edit('---\nt: 1\n---\nbody', 'prepend', { content: 'NEW' }), '---\nt: 1\n---\nNEW\nbody')
    assert.equal(edit('---\nt: 1\n---', 'prepend', { content: 'NEW' }), '---\nt: 1\n---\nNEW\n')
  })

  test('puts the content first where there is no frontmatter', () => {
    assert.equal(edit(BODY, 'prepend', { content: 'NEW' }), `NEW\n${BODY}`)
  })

  test('refuses content that would become broken frontmatter', () => {
    assert.match(refusal('body', 'prepend', { content: '---\n: [\n---' }), /./)
  })
})

describe('find_replace', () => {
  test('replaces every occurrence literally when there are as many as expected', () => {
    const rest = { find_text: 'a.c', content: '$& $1 $$', expected_replacements: 2 }
    assert.equal(edit('a.c abc a.c', 'find_replace', rest), '$& $1 $$ abc $& $1 $$')
    assert.equal(edit('aaaa', 'find_replace', { find_text: 'aa', content: 'a', expected_replacements: 2 }), 'aa')
    assert.equal(edit('x A', 'find_replace', { find_text: 'A', expected_replacements: null }), 'x ')
    assert.equal(edit('a\r\nb', 'find_replace', { find_text: '\r\nb', content: 'c' }), 'ac')
  })

  test('wants a text in every spelling of nothing', () => {
    for (const find_text of [undefined, null, '', ' ', '\n\t']) {
      const message = refusal('x', 'find_replace', { find_text })
      assert.match(message, /find_text/)
      assert.match(message, /empty or whitespace/)
    }
  })

  test('says that the text was not found', () => {
    assert.match(refusal('Alpha', 'find_replace', { find_text: 'alpha' }), /^Text to replace not found: "alpha"/)
    const long = refusal('x', 'find_replace', { find_text: 'y'.repeat(100_000) })
    assert.ok(long.length < 400 && long.includes('not found') && long.includes('yyy'))
  })

  test('names expected and found counts and the lines, frontmatter included', () => {
    const message = refusal(`${HEAD}T\nx T T\n`, 'find_replace', { find_text: 'T' })
    assert.match(message, /Expected 1 occurrence of "T", found 4 occurrences \(lines 3, 8 and 9\)/)
    const other = refusal('a', 'find_replace', { find_text: 'a', expected_replacements: 3 })
    assert.match(other, /Expected 3 occurrences of "a", found 1 occurrence \(line 1\)/)
    const many = refusal('a\n'.repeat(100), 'find_replace', { find_text: 'a' })
    assert.match(many, /found 100 occurrences \(lines 1, 2, .*, 20 and 80 more\)/)
  })

  test('refuses a result that would fill the memory', () => {
    const rest = { find_text: 'a', content: 'b'.repeat(1_000_000), expected_replacements: 1_000_000 }
    assert.throws(
      () => edit('a'.repeat(1_000_000), 'find_replace', rest),
      (error) => isAppError(error, 'invalid_argument'),
    )
  })

  test('may change the frontmatter but not break it', () => {
    const text = `${HEAD}x`
    assert.equal(
      edit(text, 'find_replace', { find_text: 'title:   T', content: 'title: U' }).includes('title: U'),
      true,
    )
    assert.match(refusal(text, 'find_replace', { find_text: 'title:   T', content: 'title: [' }), /./)
    assert.match(refusal(text, 'find_replace', { find_text: 'main/t\n---', content: 'main/t' }), /closing "---"/)
    assert.equal(edit(text, 'find_replace', { find_text: text, content: 'all new' }), 'all new')
  })
})

describe('sections', () => {
  test('follow the worked examples', () => {
    const at = (section: string) => ({ section, content: 'NEW' })
    assert.equal(edit(BODY, 'insert_before_section', at('## B')), '# T\n\n## A\nalpha\n\nNEW\n\n## B\nbeta')
    assert.equal(edit(BODY, 'insert_after_section', at('## A')), '# T\n\n## A\nNEW\n\nalpha\n\n## B\nbeta')
    assert.equal(edit(BODY, 'replace_section', { section: 'A', content: 'x' }), '# T\n\n## A\nx\n## B\nbeta')
    assert.equal(edit(BODY, 'delete_section', { section: 'A' }), '# T\n\n## B\nbeta')
  })

  test('want a heading in every spelling of nothing', () => {
    for (const operation of SECTION_OPERATIONS) {
      for (const section of [undefined, null, '', '  ']) {
        const message = refusal(BODY, operation, { section })
        assert.match(message, /section is required/)
        assert.match(message, /empty/)
      }
    }
  })

  test('are refused when two have the heading, with the lines of the whole text', () => {
    const text = `${HEAD}## A\n1\n## A\n2`
    for (const operation of SECTION_OPERATIONS) {
      assert.match(
        refusal(text, operation, { section: 'A', content: 'x' }),
        /Multiple sections.*"## A" \(lines 8 and 10\)/,
      )
    }
  })

  test('that are missing are refused, except by replace_section', () => {
    for (const operation of ['insert_before_section', 'insert_after_section', 'delete_section'] as const) {
      assert.match(refusal(BODY, operation, { section: 'Z', content: 'x' }), /"## Z" was not found/)
      assert.match(refusal(BODY, operation, { section: '### A', content: 'x' }), /"### A" was not found/)
    }
    assert.equal(edit(BODY, 'replace_section', { section: 'Z', content: 'x' }), `${BODY}\n\n## Z\nx`)
    assert.equal(edit(`${BODY}\n`, 'replace_section', { section: '# Z', content: 'x' }), `${BODY}\n\n# Z\nx`)
    assert.equal(edit(`${BODY}\n\n`, 'replace_section', { section: 'Z', content: 'x' }), `${BODY}\n\n## Z\nx`)
    assert.equal(edit('---\nt: 1\n---', 'replace_section', { section: 'Z', content: 'x' }), '---\nt: 1\n---\n\n## Z\nx')
    assert.equal(edit('', 'replace_section', { section: 'Z', content: '## Z\nx' }), '## Z\nx')
  })

  test('cannot be called what is no heading', () => {
    for (const section of ['#tag', '####### seven', '## two\nlines']) {
      for (const operation of SECTION_OPERATIONS) {
        if (operation === 'replace_section' && !section.includes('\n')) continue
        assert.match(refusal(BODY, operation, { section }), /not found/)
      }
    }
  })

  test('that begin with # and are no headings become one, which is found again', () => {
    for (const section of ['#tag', '####### seven']) {
      const added = edit(BODY, 'replace_section', { section, content: 'x' })
      assert.equal(added, `${BODY}\n\n## ${section}\nx`)
      assert.equal(edit(added, 'replace_section', { section, content: 'y' }), `${BODY}\n\n## ${section}\ny`)
      assert.equal(edit(added, 'delete_section', { section }), `${BODY}\n\n`)
    }
  })

  test('are found by their trimmed line, never in code or in the frontmatter', () => {
    const text = '---\n# ## A\n## A\nt: 1\n---\n\n```\n## A\n```\n~~~md\n## A\n```\n~~~\n  ## A  \r\nalpha\r\n'
    assert.equal(edit(text, 'replace_section', { section: ' ## A', content: 'x' }), text.replace('alpha\r\n', 'x'))
  })

  test('are found in whatever Unicode form their heading is typed, which stays as it is written', () => {
    for (const [written, named] of [
      ['NFD', 'NFC'],
      ['NFC', 'NFD'],
    ] as const) {
      const heading = '## Größe 한국'.normalize(written)
      const section = 'Größe 한국'.normalize(named)
      const content = `## ${section}\nnew`
      assert.equal(edit(`${heading}\nold`, 'replace_section', { section, content }), `${heading}\nnew`)
      assert.match(refusal(`${heading}\n## ${section}\n`, 'delete_section', { section }), /^Multiple sections/)
    }
  })

  test('end at the next heading of their level or above', () => {
    const text = '## A\na\n### A1\na1\n```\n## no\n```\n## B\nb\n# C\nc\n'
    assert.equal(edit(text, 'replace_section', { section: 'A', content: 'x\n' }), '## A\nx\n## B\nb\n# C\nc\n')
    assert.equal(edit(text, 'delete_section', { section: 'B' }), '## A\na\n### A1\na1\n```\n## no\n```\n# C\nc\n')
    assert.equal(edit(text, 'delete_section', { section: '# C' }), text.replace('# C\nc\n', ''))
  })

  test('keep their subsections when asked', () => {
    const text = '## A\na\n### A1\na1\n## B'
    const rest = { section: 'A', content: 'x', replace_subsections: false }
    assert.equal(edit(text, 'replace_section', rest), '## A\nx\n### A1\na1\n## B')
    assert.equal(edit(text, 'replace_section', { ...rest, replace_subsections: null }), '## A\nx\n## B')
    assert.equal(edit(text, 'delete_section', rest), '## B', 'a section goes as a whole')
  })

  test('are not doubled by content that begins with their heading or brings others', () => {
    assert.equal(edit(BODY, 'replace_section', { section: 'A', content: '## A\nx' }), '# T\n\n## A\nx\n## B\nbeta')
    assert.equal(
      edit(BODY, 'replace_section', { section: 'A', content: '\n## A\n\nx' }),
      '# T\n\n## A\n\nx\n## B\nbeta',
    )
    assert.equal(
      edit(BODY, 'replace_section', { section: 'A', content: 'x\n### C\ny\n## D\nz' }),
      '# T\n\n## A\nx\n### C\ny\n## D\nz\n## B\nbeta',
    )
    assert.equal(edit(BODY, 'replace_section', { section: 'B', content: '### B' }), '# T\n\n## A\nalpha\n\n## B\n### B')
  })

  test('may be emptied, and may be the last line', () => {
    assert.equal(edit(BODY, 'replace_section', { section: 'A' }), '# T\n\n## A\n## B\nbeta')
    assert.equal(edit('## A', 'replace_section', { section: 'A', content: 'x' }), '## A\nx')
    assert.equal(edit('## A', 'insert_after_section', { section: 'A', content: 'x' }), '## A\nx')
    assert.equal(edit('## A', 'insert_before_section', { section: 'A', content: 'x' }), 'x\n\n## A')
  })

  test('stand behind the frontmatter as they did, and with a blank line between where they are the first of the body', () => {
    const rest = { section: 'A', content: 'x' }
    assert.equal(edit('---\nt: 1\n---\n## A\n', 'replace_section', rest), '---\nt: 1\n---\n## A\nx')
    assert.equal(edit('---\nt: 1\n---', 'replace_section', rest), '---\nt: 1\n---\n\n## A\nx')
    assert.equal(edit(HEAD, 'replace_section', rest), `${HEAD}## A\nx`)
  })

  test('get blank lines around what is inserted only where there are none', () => {
    const before = (text: string, content: string) => edit(text, 'insert_before_section', { section: 'B', content })
    assert.equal(before('a\n## B\n', 'N'), 'a\n\nN\n\n## B\n')
    assert.equal(before('a\n## B\n', ' \nN\n\t\n'), 'a\n \nN\n\t\n## B\n')
    assert.equal(before('a\n## B', 'NEW'), 'a\n\nNEW\n\n## B')
    assert.equal(before('a\r\n\r\n## B', 'NEW\n'), 'a\r\n\r\nNEW\n\n## B')
    assert.equal(before('a\n## B', '\nNEW\n\n'), 'a\n\nNEW\n\n## B')
    const after = (text: string, content: string) => edit(text, 'insert_after_section', { section: 'B', content })
    assert.equal(after('## B\n\nb', 'NEW'), '## B\nNEW\n\nb')
    assert.equal(after('## B\r\nb\r\n', 'NEW\n\n'), '## B\r\nNEW\n\nb\r\n')
    assert.equal(after('## B\n## C', 'NEW'), '## B\nNEW\n\n## C')
  })
})

describe('metadata', () => {
  test('changes the frontmatter only, and keeps what it does not touch', () => {
    const changed = edit(HEAD + BODY, 'append', {
      metadata: { status: 'done', title: 'no', type: 'no', permalink: 'no' },
    })
    assert.equal(changed, `${HEAD.replace('main/t\n', 'main/t\nstatus: done\n')}${BODY}`)
    assert.equal(edit(changed, 'prepend', { metadata: { status: null } }), HEAD + BODY)
  })

  test('goes with any operation', () => {
    const rest = { section: 'A', content: 'x', metadata: { n: 1 } }
    const changed = edit(HEAD + BODY, 'replace_section', rest)
    assert.ok(changed.includes('\nn: 1\n---\n\n# T\n\n## A\nx\n## B'))
  })

  test('makes frontmatter where there is none, and leaves it out where nothing is said', () => {
    assert.equal(edit(BODY, 'append', { metadata: { n: 1 } }), `---\nn: 1\n---\n\n${BODY}`)
    assert.equal(edit(BODY, 'append', { metadata: { n: null } }), BODY)
    assert.equal(edit(HEAD + BODY, 'append', { metadata: {} }), HEAD + BODY)
    assert.equal(edit(HEAD + BODY, 'append', { metadata: { title: 'x' } }), HEAD + BODY)
  })
})
