import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnswerHead } from './answer-head.ts'
import { AnswerReader } from './answer-reader.ts'

interface Read {
  heads: AnswerHead[]
  body: string
  ends: boolean[]
  reader: AnswerReader
}

function readerFor(): Read {
  const read: Omit<Read, 'reader'> = { heads: [], body: '', ends: [] }
  const reader = new AnswerReader({
    onHead: (head) => read.heads.push(head),
    onData: (chunk) => {
      read.body += chunk.toString('latin1')
    },
    onEnd: (isWhole) => read.ends.push(isWhole),
  })
  reader.begin()
  return Object.assign(read, { reader })
}

/** The same answer as a whole, byte by byte, and cut in two at every place. */
function* inPieces(text: string): Generator<Read> {
  const bytes = Buffer.from(text, 'latin1')
  for (const cuts of [[], Array.from(bytes.keys()), ...Array.from(bytes.keys(), (at) => [at])]) {
    const read = readerFor()
    let from = 0
    for (const at of [...cuts.filter((cut) => cut > 0), bytes.length]) {
      read.reader.read(bytes.subarray(from, at))
      from = at
    }
    yield read
  }
}

function assertReads(text: string, expected: { status: number; body: string; keepsMs?: number | undefined }): void {
  for (const { heads, body, ends } of inPieces(text)) {
    assert.deepEqual([heads.length, heads[0]?.status, body, ends], [1, expected.status, expected.body, [true]])
    assert.equal(heads[0]?.keepsMs, expected.keepsMs)
  }
}

test('an answer is read in whatever pieces it comes', () => {
  assertReads('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', { status: 200, body: 'hello' })
  assertReads('HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '' })
  assertReads('HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n', { status: 304, body: '' })
  assertReads('HTTP/1.1 500 \r\ncontent-length:0\r\n\r\n', { status: 500, body: '' })
  assertReads('HTTP/1.1 200\r\ncontent-length: 1 \r\n\r\nx', { status: 200, body: 'x' })
  assertReads('HTTP/1.1 200 OK\r\nx: a\r\n  b\r\ncontent-length: 1\r\n\r\nx', { status: 200, body: 'x' })
})

test('chunks are read with what may stand around them', () => {
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  assertReads(`${head}5\r\nhello\r\n0\r\n\r\n`, { status: 200, body: 'hello' })
  assertReads(`${head}00A ;name="v;"\r\n0123456789\r\n1\r\nx\r\n0\r\nx-trailer: a\r\n\r\n`, {
    status: 200,
    body: '0123456789x',
  })
  assertReads(`${head}0\r\n\r\n`, { status: 200, body: '' })
  assertReads(`${head}1a\t;\t\r\n${'x'.repeat(26)}\r\n0\r\n\r\n`, { status: 200, body: 'x'.repeat(26) })
})

test('interim answers are none', () => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
  assertReads(`${interim}HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\ngone`, { status: 404, body: 'gone' })
})

test('a body without a length ends with the connection', () => {
  for (const coding of ['', 'transfer-encoding: gzip\r\n', 'transfer-encoding: chunked, gzip\r\n']) {
    const { reader, heads, body, ends } = readOnce(`HTTP/1.1 200 OK\r\n${coding}\r\nall of it`)
    assert.deepEqual([heads[0]?.body, heads[0]?.keepsMs, body, ends], ['close', 0, 'all of it', []])
    assert.equal(reader.isEndedByClose, true)
  }
  assert.equal(readOnce('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel').reader.isEndedByClose, false)
  assert.equal(readOnce('HTTP/1.1 200 OK\r\n').reader.isEndedByClose, false)
  // Chunks end with the last of them: a connection that closes before it has broken the answer off.
  for (const chunks of ['', '5', '5\r\n', '5\r\nhello', '5\r\nhello\r\n', '5\r\nhello\r\n0\r\n']) {
    const { reader } = readOnce(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`)
    assert.equal(reader.isEndedByClose, false, JSON.stringify(chunks))
  }
})

test('the receiver says for how long it keeps the connection', () => {
  const keeps = (lines: string, version = '1.1') =>
    readOnce(`HTTP/${version} 200 OK\r\n${lines}content-length: 0\r\n\r\n`).heads[0]?.keepsMs
  assert.equal(keeps(''), undefined)
  assert.equal(keeps('connection: keep-alive\r\nkeep-alive: timeout=5, max=100\r\n'), 5_000)
  assert.equal(keeps('keep-alive: max=100, timeout=7\r\n'), 7_000)
  assert.equal(keeps('connection: foo\r\nkeep-alive: max=100,Timeout=8\r\n'), 8_000)
  assert.equal(keeps('Connection: Foo, CLOSE\r\nkeep-alive: timeout=5\r\n'), 0)
  assert.equal(keeps('connection: foo\r\nconnection: close\r\n'), 0)
  assert.equal(keeps('', '1.0'), 0)
  assert.equal(keeps('connection: Keep-Alive\r\n', '1.0'), undefined)
})

test('what follows an answer makes it one that is not whole', () => {
  const next = 'HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'
  for (const answer of [
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ]) {
    const { heads, ends } = readOnce(answer + next)
    assert.deepEqual([heads.map(({ status }) => status), ends], [[200], [false]])
    const { reader } = readOnce(answer)
    assert.throws(() => reader.read(Buffer.from(next)), /nobody asked for/)
  }
})

test('headers have lower-case names, and those that come more than once are kept all', () => {
  const lines = 'X-A: b\r\nx-a:  c\t\r\nx-A: d:e\r\nX-Empty:\r\n__proto__: x\r\ncontent-length: 0\r\n'
  const { heads } = readOnce(`HTTP/1.1 404 Gr\xfc\xdfe\r\n${lines}\r\n`)
  assert.equal(heads[0]?.statusText, 'Gr\xfc\xdfe')
  const expected = { 'x-a': ['b', 'c', 'd:e'], 'x-empty': '', 'content-length': '0' }
  Object.defineProperty(expected, '__proto__', { value: 'x', writable: true, enumerable: true })
  assert.deepEqual({ ...heads[0]?.headers }, { ...expected })
})

test('another protocol that nobody asked for is the last answer of its connection', () => {
  for (const { heads, body, ends } of inPieces('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n')) {
    assert.deepEqual([heads.map(({ status }) => status), body, ends], [[101], '', [false]])
  }
})

test('what is no answer is refused', () => {
  const ok = 'HTTP/1.1 200 OK\r\n'
  const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`
  for (const text of [
    'SSH-2.0-OpenSSH_9.9\r\n',
    'HTTP/2.0 200 OK\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1 2000 OK\r\n\r\n',
    'HTTP/1.1 200OK\r\n\r\n',
    'xHTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 099 OK\r\n\r\n',
    'HTTP/1.1  200 OK\r\n\r\n',
    'HTTP/1.1 200 O\0K\r\n\r\n',
    `${ok}no header\r\n\r\n`,
    `${ok}a b: c\r\n\r\n`,
    `${ok}a : c\r\n\r\n`,
    `${ok}: c\r\n\r\n`,
    `${ok}a: b\nc: d\r\n\r\n`,
    `${ok}a: b\rc: d\r\n\r\n`,
    `${ok}a: \0\r\n\r\n`,
    `${ok}content-length: 1\r\ncontent-length: 1\r\n\r\n`,
    `${ok}content-length: 1, 1\r\n\r\n`,
    `${ok}content-length: -1\r\n\r\n`,
    `${ok}content-length: 0x1\r\n\r\n`,
    `${ok}content-length: \r\n\r\n`,
    `${ok}content-length: 99999999999999999999\r\n\r\n`,
    `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
    `${ok}x: ${'y'.repeat(20_000)}`,
    `${ok}x: ${'y'.repeat(20_000)}\r\n\r\n`,
    `${chunked}zz\r\n`,
    `${chunked}-1\r\n`,
    `${chunked}\r\n`,
    `${chunked}1 1\r\n`,
    `${chunked}1\r\nxx\r\n`,
    `${chunked}1;${'y'.repeat(2_000)}`,
    `${chunked}0\r\n${'a: b\r\n'.repeat(10_000)}`,
  ]) {
    assert.throws(() => readOnce(text), { name: 'NoAnswer' }, JSON.stringify(text.slice(0, 100)))
  }
})

test('only blanks and tabs around a value do not belong to it', () => {
  const { heads } = readOnce('HTTP/1.1 200 OK\r\nx: \xa0a\xa0\t\r\ncontent-length: 0\r\n\r\n')
  assert.equal(heads[0]?.headers.x, '\xa0a\xa0')
  for (const line of [
    'content-length: \x0b5',
    'content-length: 5\xa0',
    'transfer-encoding: \x0cchunked',
    'transfer-encoding: gzip,\xa0chunked',
    'x: a\n',
    'x: \ra',
  ]) {
    assert.throws(() => readOnce(`HTTP/1.1 200 OK\r\n${line}\r\n\r\n`), { name: 'NoAnswer' }, JSON.stringify(line))
  }
})

test('a line goes on in the next one only where that changes nothing', () => {
  for (const lines of [
    ' x: y',
    '\tno header',
    'content-length: 1\r\n 1',
    'content-length:\r\n 1',
    'Transfer-Encoding: gzip,\r\n\tchunked',
    'x: y\r\n z\r\ncontent-length: 1\r\n 1',
    'x: y\r\nTransfer-Encoding: gzip,\r\n chunked',
  ]) {
    assert.throws(() => readOnce(`HTTP/1.1 200 OK\r\n${lines}\r\n\r\n`), { name: 'NoAnswer' }, JSON.stringify(lines))
  }
})

test('a header that goes on in further lines is one', () => {
  const lines = 'x-content-length: a\r\n b\r\n\t  c\r\ny: d\r\n\te\r\ncontent-length: 0\r\n'
  const { heads } = readOnce(`HTTP/1.1 200 OK\r\n${lines}\r\n`)
  assert.deepEqual({ ...heads[0]?.headers }, { 'x-content-length': 'a b c', y: 'd e', 'content-length': '0' })
})

test('a trailer has headers, and none that says how long the body is', () => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n'
  for (const line of ['no header', 'a b: c', 'a: b\nc', ' a: b', 'Content-Length: 1', 'transfer-encoding: chunked']) {
    assert.throws(() => readOnce(`${chunked}${line}\r\n\r\n`), { name: 'NoAnswer' }, JSON.stringify(line))
  }
})

test('a connection is not used again where the receiver may mean another end than we do', () => {
  for (const head of [
    'HTTP/1.1 204 No Content\r\ncontent-length: 3',
    'HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked',
    'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked',
  ]) {
    assert.equal(readOnce(`${head}\r\n\r\n`).heads[0]?.keepsMs, 0, head)
  }
})

test('headers and interim answers without end are refused', () => {
  assert.throws(() => readOnce(`HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(4_000)}\r\n`), /too many headers/)
  const { reader } = readOnce('')
  const interim = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(10))
  assert.throws(() => {
    for (let count = 0; count < 1_000; count++) reader.read(interim)
  }, /too many interim answers/)
})

test('many interim answers before each of many answers are not too many', () => {
  const { reader, ends } = readOnce('')
  const answer = Buffer.from(
    `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`,
  )
  for (let count = 0; count < 20; count++) {
    reader.begin()
    reader.read(answer)
  }
  assert.equal(ends.length, 20)
})

test('a trailer behind each of many answers is not too long', () => {
  const { reader, ends } = readOnce('')
  const trailer = `x: ${'y'.repeat(900)}\r\n`.repeat(10)
  const answer = Buffer.from(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${trailer}\r\n`)
  for (let count = 0; count < 3; count++) {
    reader.begin()
    reader.read(answer)
  }
  assert.deepEqual(ends, [true, true, true])
})

test('a status line with half an end is refused at once, instead of being waited for', () => {
  assert.throws(() => readOnce('HTTP/1.1 200 OK\ncontent-length: 0\n\n'), { name: 'NoAnswer' })
})

function readOnce(text: string): Read {
  const read = readerFor()
  read.reader.read(Buffer.from(text, 'latin1'))
  return read
}
