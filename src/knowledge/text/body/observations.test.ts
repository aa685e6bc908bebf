import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readObservation } from './observations.ts'

function observation(category: string, content: string, tags: string[] = [], context: string | null = null) {
  return { category, content, tags, context }
}

test('reads category, content, tags and context', () => {
  assert.deepEqual(
    readObservation('[category] text #tag1 #tag2 (context)'),
    observation('category', 'text #tag1 #tag2', ['tag1', 'tag2'], 'context'),
  )
  assert.deepEqual(readObservation('[tech] plain'), observation('tech', 'plain'))
})

test('a category is any text in brackets with white space after it', () => {
  for (const category of ['design idea', 'задача', '设计', 'a', '1', 'q', '2024', '10:30am', 'v1:2', 'C++', '事']) {
    assert.deepEqual(readObservation(`[${category}] text`), observation(category, 'text'))
  }
  assert.deepEqual(readObservation('[ padded ] text'), observation('padded', 'text'))
  assert.deepEqual(readObservation('[tab]\ttext'), observation('tab', 'text'))
  for (const line of [
    '[tech]text',
    '[a(b)] text',
    '[a(b] text',
    '[a)b] text',
    '[a[b]] text',
    '[open text',
    '[cat]',
    '[cat] ',
    'text',
  ]) {
    assert.equal(readObservation(line.trim()), null, line)
  }
})

test('a line with a tag and no category is a note', () => {
  assert.deepEqual(readObservation('some text #tag'), observation('note', 'some text #tag', ['tag']))
  assert.deepEqual(readObservation('#tag first'), observation('note', '#tag first', ['tag']))
  assert.deepEqual(readObservation('[] text #t'), observation('note', 'text #t', ['t']))
  assert.deepEqual(readObservation('[tech]text #t'), observation('note', '[tech]text #t', ['t']))
  assert.equal(readObservation('[] text'), null)
})

test('a # inside a word is no tag', () => {
  for (const line of ['color="#4285F4"', 'a:#FFF', 'C#', 'issue#12', 'a # b', '`x #y`', 'to [[Guide #2]]', '#', '##']) {
    assert.equal(readObservation(line), null, line)
  }
  assert.deepEqual(readObservation('[c] a:#FFF x#y #z'), observation('c', 'a:#FFF x#y #z', ['z']))
})

test('tags that touch are two, and punctuation after one is not part of it', () => {
  assert.deepEqual(readObservation('[c] x #a#b')?.tags, ['a', 'b'])
  assert.deepEqual(readObservation('[c] x #a, #b.')?.tags, ['a', 'b'])
  assert.deepEqual(readObservation('[c] x #标签 #with-dash_1/sub')?.tags, ['标签', 'with-dash_1/sub'])
  assert.deepEqual(readObservation('[c] a\u00A0#b')?.tags, ['b'])
  assert.deepEqual(readObservation('[c] #标签。 #タグ」、 #وسم؟ #टैग। «#ярлык» #étiquette»')?.tags, [
    '标签',
    'タグ',
    'وسم',
    'टैग',
    'étiquette',
  ])
})

test('the context is what stands between the last opening parenthesis and a final closing one', () => {
  assert.deepEqual(
    readObservation('[c] Content (with) extra) parens)'),
    observation('c', 'Content', [], 'with) extra) parens'),
  )
  assert.deepEqual(readObservation('[c] a (b) c (d)'), observation('c', 'a (b) c', [], 'd'))
  assert.deepEqual(readObservation('[c] a (b'), observation('c', 'a (b'))
  assert.deepEqual(readObservation('[c] a (b) c'), observation('c', 'a (b) c'))
  assert.deepEqual(readObservation('[c] a b)'), observation('c', 'a b)'))
  assert.deepEqual(readObservation('[c] a ()'), observation('c', 'a'))
  assert.deepEqual(readObservation('[c] a #t (b #u)'), observation('c', 'a #t', ['t'], 'b #u'))
})

test('the address of a link at the end is no context', () => {
  for (const text of [
    'see [the docs](https://x.y/z)',
    'see ![it](it.png)',
    'on [A (b)](https://x.y/A_(b))',
    'a (b) in [`c`](d "e (f)")',
  ]) {
    assert.deepEqual(readObservation(`[c] ${text}`), observation('c', text))
  }
  assert.deepEqual(readObservation('[c] [a](b) (c)'), observation('c', '[a](b)', [], 'c'))
  assert.deepEqual(readObservation('[c] [a] (b)'), observation('c', '[a]', [], 'b'))
  assert.deepEqual(readObservation('[c] uses [[X]](b)'), observation('c', 'uses [[X]]', [], 'b'))
  assert.deepEqual(readObservation('[c] a](b)'), observation('c', 'a]', [], 'b'))
})

test('nothing but a context is no observation', () => {
  assert.equal(readObservation('[c] (only context)'), null)
})

test('tasks are no observations, with a tag or without', () => {
  for (const mark of [' ', 'x', 'X', '-', '/', '>', '?', '!', '*', '🔥']) {
    assert.equal(readObservation(`[${mark}] do it`), null)
    assert.equal(readObservation(`[${mark}] do it #soon`), null)
  }
})

test('a task whose blank was forgotten is a task, but a link may have its mark for a text', () => {
  for (const mark of [' ', 'x', 'X', '-', '/', '🔥']) {
    assert.equal(readObservation(`[${mark}]do it #soon`), null, mark)
    assert.equal(readObservation(`[${mark}][[Plan]] #soon`), null, mark)
  }
  assert.deepEqual(readObservation('[x](url) #t'), observation('note', '[x](url) #t', ['t']))
  for (const line of ['[1]text #t', '[]text #t', '[  ]text #t', '[q]text #t']) {
    assert.deepEqual(readObservation(line), observation('note', line, ['t']))
  }
})

test('a link alone is no observation', () => {
  for (const line of ['[text](url)', '[a #b](url)', '[[X]]', '[[X #y]]', '[a [b] #c](u(r)l)']) {
    assert.equal(readObservation(line), null, line)
  }
  assert.deepEqual(readObservation('[text](url) #t'), observation('note', '[text](url) #t', ['t']))
  assert.deepEqual(readObservation('[[X]] #t'), observation('note', '[[X]] #t', ['t']))
})

test('a time in brackets is no category', () => {
  for (const time of [
    '0:15',
    '10:30',
    '100:00',
    '01:02:03',
    '01:02:03.500',
    '0:01,5',
    '00:01 - 00:05',
    '0:01 – 0:05',
  ]) {
    assert.equal(readObservation(`[${time}] said something`), null, time)
    assert.deepEqual(readObservation(`[${time}] said #x`), observation('note', `[${time}] said #x`, ['x']))
  }
})

const pieces = fc.constantFrom(
  '[',
  ']',
  '(',
  ')',
  '#',
  ' ',
  'x',
  'a',
  '12:30',
  ' - ',
  '[[',
  ']]',
  '`',
  '\u3000',
  '😀',
  '#t',
)

test('whatever the line is, content is neither empty nor padded and tags stand in the line', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      const line = parts.join('').trim()
      const found = readObservation(line)
      if (found === null) return
      assert.ok(found.content !== '' && found.content === found.content.trim() && line.includes(found.content))
      assert.ok(found.category !== '' && found.category === found.category.trim())
      for (const tag of found.tags) assert.ok(tag !== '' && found.content.includes(`#${tag}`))
      assert.ok(found.context === null || (found.context !== '' && line.includes(found.context)))
    }),
    { numRuns: 3000 },
  )
})

test('hostile lines are read in one pass', () => {
  const many = 200_000
  for (const piece of ['(', ')', '()', '[', ']', '#', ' #', '#a ', '[a] ', '[a](', '](', '`#']) {
    readObservation(`[c] ${piece.repeat(many)})`)
    readObservation(piece.repeat(many).trim())
    readObservation(`${piece.repeat(many)} #t`)
  }
  assert.equal(readObservation(`[c] ${'#a '.repeat(many)}`.trim())?.tags.length, many)
})
