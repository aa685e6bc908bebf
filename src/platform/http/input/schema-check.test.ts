import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TSchema, Type } from 'typebox'
import { sentence } from './problem.ts'
import { SchemaCheck } from './schema-check.ts'
import { TextValues } from './text-values.ts'

const User = Type.Object({
  data: Type.Object({
    type: Type.Literal('users'),
    attributes: Type.Object({
      email: Type.String({ format: 'email' }),
      name: Type.Optional(Type.Union([Type.String({ maxLength: 5 }), Type.Null()])),
      state: Type.Optional(Type.Union([Type.Literal('on'), Type.Literal('off')])),
      age: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      tags: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 3 })),
    }),
  }),
})

function problemsOf(schema: TSchema, value: unknown): string[] {
  const check = new SchemaCheck(schema, 'body')
  assert.equal(check.passes(value), false)
  return check.explain(value).problems.map(sentence)
}

test('every problem is reported at once, with the place it is at', () => {
  const attributes = { email: 'nobody', name: 7, state: 'maybe', age: 101, tags: ['a', 2, ''] }
  assert.deepEqual(problemsOf(User, { data: { type: 'roles', attributes } }).toSorted(), [
    'data.attributes.age must be an integer from 1 to 100',
    'data.attributes.email is not a valid email address',
    'data.attributes.name must be a string or null',
    'data.attributes.state must be one of "on", "off"',
    'data.attributes.tags[1] must be a string',
    'data.attributes.tags[2] must not be empty',
    'data.type must be "users"',
  ])
  assert.deepEqual(problemsOf(User, { data: { type: 'users', attributes: {} } }), ['data.attributes.email is required'])
  assert.deepEqual(problemsOf(User, []), ['Request body must be an object'])
  assert.deepEqual(problemsOf(User, undefined), ['Request body is required'])
})

test('what is wrong with a value that may be null is said of its type', () => {
  const attributes = { email: 'ada@example.org', name: 'too long' }
  assert.deepEqual(problemsOf(User, { data: { type: 'users', attributes } }), [
    'data.attributes.name must have at most 5 characters',
  ])
})

test('a value of a map is looked at whatever its key is, one with a line end too', () => {
  const Rule = Type.Object({ texts: Type.Record(Type.String(), Type.Object({ text: Type.String() })) })
  for (const key of ['de', '', 'a\nb', '\n', '\r', '\u2028']) {
    assert.ok(new SchemaCheck(Rule, 'body').passes({ texts: { [key]: { text: 'x' } } }), JSON.stringify(key))
    assert.match(problemsOf(Rule, { texts: { [key]: 5 } }).join(), /^texts.* must be an object$/s)
    assert.match(problemsOf(Rule, { texts: { [key]: {} } }).join(), /^texts.*text is required$/s)
  }
  const refined = Type.Refine(
    Rule,
    ({ texts }) => 'en' in texts,
    () => 'has no English text',
  )
  assert.deepEqual(problemsOf(refined, { texts: { de: { text: 'x' } } }), ['Request body has no English text'])
  assert.ok(new SchemaCheck(refined, 'body').passes({ texts: { en: { text: 'x' } } }))
})

test('so it is of a value that may be null inside an object that may be null', () => {
  const Inner = Type.Union([
    Type.Object({ name: Type.Union([Type.String({ maxLength: 5 }), Type.Null()]) }),
    Type.Null(),
  ])
  const Outer = Type.Object({ inner: Inner })
  assert.deepEqual(problemsOf(Outer, { inner: { name: 'too long' } }), ['inner.name must have at most 5 characters'])
  assert.deepEqual(problemsOf(Outer, { inner: { name: 7 } }), ['inner.name must be a string or null'])
  assert.deepEqual(problemsOf(Outer, { inner: 7 }), ['inner must be an object or null'])
})

test('of a list that may be null the items that are wrong are named, with what they may be', () => {
  const kind = Type.Union([Type.Literal('note'), Type.Literal('part')])
  const Kinds = Type.Object({
    kinds: Type.Union([Type.Array(kind), Type.Null()]),
    named: Type.Optional(Type.Union([Type.Object({ kind: Type.Literal('note') }), Type.Null()])),
    state: Type.Optional(Type.Union([Type.Union([Type.Literal('on'), Type.Literal('off')]), Type.Null()])),
  })
  assert.deepEqual(problemsOf(Kinds, { kinds: ['note', 'foo', 7] }), [
    'kinds[1] must be one of "note", "part"',
    'kinds[2] must be one of "note", "part"',
  ])
  assert.deepEqual(problemsOf(Kinds, { kinds: 'note' }), ['kinds must be an array or null'])
  assert.deepEqual(problemsOf(Kinds, { kinds: [], named: { kind: 'part' } }), ['named.kind must be "note"'])
  assert.deepEqual(problemsOf(Kinds, { kinds: [], state: 'maybe' }), ['state must be one of "on", "off" or null'])
})

const Shapes = Type.Object({
  shapes: Type.Array(
    Type.Union([
      Type.Object(
        { kind: Type.Literal('circle'), radius: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]) },
        { additionalProperties: false },
      ),
      Type.Object(
        {
          kind: Type.Literal('square'),
          side: Type.Integer({ minimum: 1 }),
          fill: Type.Optional(Type.Union([Type.Literal('red'), Type.Literal('blue')])),
        },
        { additionalProperties: false },
      ),
    ]),
  ),
})

test('of objects that are told apart by a member, what is wrong is said of the one with that member', () => {
  const shapes = [
    { kind: 'circle', radius: 0 },
    { kind: 'square', side: 1 },
    { kind: 'square', side: 'long', fill: 'green' },
    { kind: 'square', radius: 1 },
    { kind: 'circle', radius: 'wide' },
  ]
  assert.deepEqual(problemsOf(Shapes, { shapes }).toSorted(), [
    'shapes[0].radius must be an integer of at least 1',
    'shapes[2].fill must be one of "red", "blue"',
    'shapes[2].side must be an integer of at least 1',
    'shapes[3].radius is not a known member',
    'shapes[3].side is required',
    'shapes[4].radius must be an integer of at least 1 or null',
  ])
})

test('of objects that are told apart by a member which is missing or wrong, it is said what it may be', () => {
  const shapes = [{ kind: 'oval' }, { radius: 1 }, { kind: 7, side: 1 }, 7, null]
  assert.deepEqual(problemsOf(Shapes, { shapes }), [
    'shapes[0].kind must be one of "circle", "square"',
    'shapes[1].kind must be one of "circle", "square"',
    'shapes[2].kind must be one of "circle", "square"',
    'shapes[3] must be an object',
    'shapes[4] must be an object',
  ])
})

test('where a list of such objects has too many problems, those that are told are so in full', () => {
  const shapes = Array.from({ length: 400 }, () => ({ kind: 'square', a: 1, b: 2, c: 3, d: 4, e: 5 }))
  const problems = problemsOf(Shapes, { shapes })
  assert.equal(problems.length, 100)
  assert.deepEqual(
    problems.filter((text) => text.includes('radius') || text.includes('kind')),
    [],
  )
  const one = problemsOf(Shapes, {
    shapes: [Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`m${n}`, n]))],
  })
  assert.deepEqual(one, ['Request body does not have the right form'])
})

test('values are never converted: a number in quotes is no number', () => {
  assert.deepEqual(problemsOf(Type.Object({ n: Type.Integer() }), { n: '1' }), ['n must be an integer'])
})

test('unknown members are allowed unless the schema is closed', () => {
  assert.equal(new SchemaCheck(Type.Object({}), 'body').passes({ other: 1 }), true)
  const closed = Type.Object({}, { additionalProperties: false })
  assert.deepEqual(problemsOf(closed, { other: 1, more: 2 }), [
    'other is not a known member',
    'more is not a known member',
  ])
})

test('a hostile body gets a bounded list of problems in a bounded time', () => {
  const { user: before } = process.threadCpuUsage()
  const many = problemsOf(Type.Object({ items: Type.Array(Type.String()) }), { items: new Array(500_000).fill(1) })
  assert.equal(many.length, 100)
  const names = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`${'x'.repeat(50)}${i}`, 1]))
  const unknown = problemsOf(Type.Object({}, { additionalProperties: false }), names)
  assert.ok(unknown.length <= 100 && unknown.join('').length < 20_000)
  assert.ok(process.threadCpuUsage().user - before < 5_000_000)
})

test('a query string is read by its schema, strictly, and what is not named is ignored', () => {
  const schema = Type.Object({
    'page[size]': Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
    'page[number]': Type.Optional(Type.Integer({ minimum: 0 })),
    sort: Type.Optional(Type.Union([Type.Literal('name'), Type.Literal('email')])),
    open: Type.Optional(Type.Boolean()),
    id: Type.Optional(Type.Array(Type.String())),
    kind: Type.Optional(Type.Array(Type.Union([Type.Literal('note'), Type.Literal('folder')]))),
  })
  const values = new TextValues(schema, 'query')
  const read = (texts: Record<string, string | string[]>) => {
    const result = values.read(texts)
    return 'value' in result ? result.value : result.error.problems.map(sentence)
  }
  assert.deepEqual(read({ other: 'x', __proto__: 'y' } as Record<string, string>), { 'page[size]': 10 })
  assert.deepEqual(read({ 'page[size]': '25', open: 'false', id: 'a', sort: 'name' }), {
    'page[size]': 25,
    open: false,
    id: ['a'],
    sort: 'name',
  })
  for (const [text, open] of Object.entries({ true: true, True: true, FALSE: false, False: false })) {
    assert.deepEqual(read({ open: text }), { 'page[size]': 10, open }, text)
  }
  assert.deepEqual(read({ id: ['a', 'b'] }), { 'page[size]': 10, id: ['a', 'b'] })
  assert.deepEqual(read({ id: 'a,b' }), { 'page[size]': 10, id: ['a,b'] }, 'a comma may belong to a text')
  for (const kind of ['note,folder', ['note', 'folder']]) {
    assert.deepEqual(read({ kind }), { 'page[size]': 10, kind: ['note', 'folder'] })
  }
  assert.deepEqual(read({ kind: 'note,age' }), ['kind[1] must be one of "note", "folder"'])
  for (const size of ['0', '101', '1e1', '0x10', '', ' 5', '5.0', 'NaN', '9'.repeat(400)]) {
    assert.deepEqual(read({ 'page[size]': size }), ['page[size] must be an integer from 1 to 100'], size)
  }
  assert.deepEqual(read({ 'page[size]': ['1', '2'] }), ['page[size] must be given only once'])
  assert.deepEqual(read({ open: '1', sort: 'age', 'page[number]': '-1' }), [
    'page[number] must be an integer of at least 0',
    'sort must be one of "name", "email"',
    'open must be true or false',
  ])
})

test('an integer in a query may have any number of digits: the largest ones are taken for one that is beyond everything', () => {
  const values = new TextValues(Type.Object({ page: Type.Integer({ minimum: 0 }) }), 'query')
  for (const page of ['999999999999999', '9007199254740991', '9007199254740993', '9'.repeat(400)]) {
    assert.deepEqual(values.read({ page }), { value: { page: 999_999_999_999_999 } }, page)
  }
  assert.deepEqual(values.read({ page: `${'0'.repeat(30)}7` }), { value: { page: 7 } })
  for (const page of [`-${'9'.repeat(30)}`, '9'.repeat(401)]) assert.ok('error' in values.read({ page }), page)
})

test('a parameter of a query that may be empty counts as not given when it is', () => {
  const sort = Type.Union([Type.Literal('name'), Type.Literal('email')], { allowEmptyValue: true, default: 'name' })
  const kind = Type.Array(Type.Union([Type.Literal('note'), Type.Literal('folder')]), { allowEmptyValue: true })
  const glob = Type.String({ minLength: 1, allowEmptyValue: true })
  const schema = Type.Object({ sort: Type.Optional(sort), kind: Type.Optional(kind), glob: Type.Optional(glob) })
  const values = new TextValues(schema, 'query')
  assert.deepEqual(values.read({ sort: '', kind: '', glob: '' }), { value: { sort: 'name' } })
  assert.deepEqual(values.read({ sort: 'email', kind: 'note', glob: 'a' }), {
    value: { sort: 'email', kind: ['note'], glob: 'a' },
  })
  assert.ok('error' in values.read({ sort: ' ' }))
  assert.ok('error' in values.read({ kind: 'note,' }))
})

test('a number in a query is written in digits, and a long text that is none is refused without ado', () => {
  const values = new TextValues(Type.Object({ share: Type.Number() }), 'query')
  const read = (share: string) => {
    const result = values.read({ share })
    return 'value' in result ? result.value.share : undefined
  }
  for (const text of ['0', '-1', '1.', '.5', '0.25', '1e3', '-1.5E-7']) assert.equal(read(text), Number(text), text)
  for (const text of ['', '.', '-', '1e', '1e1000', '0x1', '1 ', '1,5', 'NaN', 'Infinity', '1.2.3']) {
    assert.equal(read(text), undefined, text)
  }
  // An expression that backtracks would need an hour for these.
  for (const piece of ['1', '1.', '.']) assert.equal(read(`${piece.repeat(1_000_000)}x`), undefined)
})
