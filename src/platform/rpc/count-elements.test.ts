import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import {
  FileDescriptorProtoSchema,
  SourceCodeInfoSchema,
  StringValueSchema,
  StructSchema,
} from '@bufbuild/protobuf/wkt'
import { hasTooManyElements, hasTooManyJsonElements, MAX_ELEMENTS } from './count-elements.ts'

const MANY = MAX_ELEMENTS + 1
const repeat = (bytes: number[], times: number) => Buffer.alloc(bytes.length * times, Uint8Array.from(bytes))
const inField = (number: number, bytes: Uint8Array) =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish()

test('the elements of a binary message are counted in every depth and form', () => {
  // locations = 1, of which path = 1 is a packed list.
  const empty = repeat([0x0a, 0], MANY)
  assert.ok(hasTooManyElements(SourceCodeInfoSchema, empty))
  assert.ok(hasTooManyElements(FileDescriptorProtoSchema, inField(9, empty)))
  assert.ok(hasTooManyElements(SourceCodeInfoSchema, inField(1, inField(1, repeat([1], MANY)))))
  const entries = Buffer.concat(Array.from({ length: MANY }, (_, n) => inField(1, inField(1, Buffer.from(`${n}`)))))
  assert.ok(hasTooManyElements(StructSchema, entries))
  assert.ok(hasTooManyElements(StructSchema, inField(1, repeat([0x0a, 1, 0x61], MANY + 2))), 'keys of one entry')
})

test('what no field is declared for counts, too, and so does what is in groups', () => {
  assert.ok(hasTooManyElements(StringValueSchema, repeat([0x98, 0x06, 1], MANY)))
  const group = Buffer.concat([Buffer.from([0x9b, 0x06]), repeat([0x08, 1], MANY), Buffer.from([0x9c, 0x06])])
  assert.ok(hasTooManyElements(StringValueSchema, group))
  assert.ok(hasTooManyElements(StringValueSchema, repeat([0x9b, 0x06, 0x9c, 0x06], MANY)))
})

test('elements cannot be hidden behind what the decoder reads in another way than its tag says', () => {
  const many = repeat([0x98, 0x06, 1], MANY)
  // A text is read as one although its tag says it is a number; and goes on behind the end of the message around it.
  const wrongTag = Buffer.concat([Buffer.from([0x08, 3, 0x61, 0x62, 0x63]), many])
  assert.equal(fromBinary(StringValueSchema, wrongTag).value, 'abc')
  assert.ok(hasTooManyElements(StringValueSchema, wrongTag))
  const overrun = Buffer.concat([Buffer.from([0x0a, 2, 0x1a, 3, 0xff, 0xff, 0xff]), many])
  assert.ok(hasTooManyElements(SourceCodeInfoSchema, overrun))
})

test('a message within the limit passes, however large it is', () => {
  assert.ok(
    !hasTooManyElements(
      StringValueSchema,
      toBinary(StringValueSchema, create(StringValueSchema, { value: 'x'.repeat(4e6) })),
    ),
  )
  assert.ok(!hasTooManyElements(SourceCodeInfoSchema, repeat([0x0a, 0], MAX_ELEMENTS)))
  const entries = Buffer.concat(
    Array.from({ length: MAX_ELEMENTS / 2 }, (_, n) =>
      inField(1, Buffer.concat([inField(1, Buffer.from(`${n}`)), inField(2, new Uint8Array([0x20, 1]))])),
    ),
  )
  assert.equal(Object.keys(fromBinary(StructSchema, entries).fields).length, MAX_ELEMENTS / 2)
  assert.ok(!hasTooManyElements(StructSchema, entries))
})

test('bytes that are no message are left to the decoder', () => {
  for (const broken of [repeat([0xff], MANY), repeat([0x4b], 3 * MANY), inField(1, repeat([0x0f], MANY))]) {
    assert.equal(hasTooManyElements(SourceCodeInfoSchema, broken), false)
    assert.throws(() => fromBinary(SourceCodeInfoSchema, broken))
  }
})

test('the elements of JSON are counted outside its texts', () => {
  const list = (count: number) => Buffer.from(`{"a":[${Array(count).fill('{}').join()}]}`)
  assert.ok(hasTooManyJsonElements(list(MAX_ELEMENTS / 2)))
  assert.ok(!hasTooManyJsonElements(list(MAX_ELEMENTS / 2 - 10)))
  assert.ok(!hasTooManyJsonElements(Buffer.from(JSON.stringify({ a: ',{["\\'.repeat(MANY), 'b\\': '\\\\' }))))
  assert.ok(hasTooManyJsonElements(Buffer.from(`{"a\\\\":"","b":[${'1,'.repeat(MANY)}1]}`)))
  assert.ok(!hasTooManyJsonElements(Buffer.from(`"${'\\",'.repeat(MANY)}`)))
})
