import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { chunkNote } from '../chunk/chunk-note.ts'
import { type NotePlan, planNote, planRemoval, type StoredChunk } from './plan-note.ts'

const note = { title: 'List', created_at: 0 }
let nextId = 1

function plan(content: string, stored: readonly StoredChunk[], isForced = false): NotePlan {
  return planNote({ noteId: 1, note, content, stored, isForced })
}

/** The rows after the plan was carried out. */
function apply(stored: readonly StoredChunk[], { moved, removed, added }: NotePlan): StoredChunk[] {
  const gone = new Set([...removed, ...moved.map(({ id }) => id)])
  return [...stored.filter(({ id }) => !gone.has(id)), ...moved, ...added.map((place) => ({ id: nextId++, ...place }))]
}

const keyOf = ({ kind, position, number, hash, start, end }: Omit<StoredChunk, 'id'>) =>
  [kind, position, number, hash, start, end].join(' ')

test('the same text asks for nothing, and all of it when that is forced', () => {
  const stored = apply([], plan('- one\n- two\n', []))
  const again = plan('- one\n- two\n', stored)
  assert.deepEqual([again.added, again.moved, again.removed], [[], [], []])
  const forced = plan('- one\n- two\n', stored, true)
  assert.equal(forced.texts.length, 2)
  assert.equal(forced.removed.length, 2)
  assert.equal(forced.fingerprint, again.fingerprint)
})

test('a note that goes takes its rows with it', () => {
  const stored = apply([], plan('- one\n- two\n', []))
  assert.deepEqual(
    planRemoval(1, stored).removed,
    stored.map(({ id }) => id),
  )
})

test('a text that moves is known again and told its new place, whatever of it is another one', () => {
  for (const [before, after] of [
    ['abcdef\n\n- one\n', '- x\n- y\n- one\n'],
    ['- [tag] one\n- [tag] two\n', '- [tag] two\n- [tag] one\n'],
    ['- [tag] one\n\ntext\n', 'text\n\n- [tag] one\n'],
    ['text\n\n- one\n', 'longer text\n\n- one\n'],
  ] as const) {
    const stored = apply([], plan(before, []))
    const wanted = apply([], plan(after, []))
    assert.deepEqual(apply(stored, plan(after, stored)).map(keyOf).sort(), wanted.map(keyOf).sort(), after)
  }
})

const lines = fc.array(
  fc.constantFrom('- one\n', '- two\n', '- [tag] three\n', '# head\n', 'text\n\n', '- is [[Four]]\n'),
  {
    maxLength: 12,
  },
)

test('after every plan the rows are those of the text, and only texts that are new were embedded', () => {
  fc.assert(
    fc.property(fc.array(lines, { minLength: 1, maxLength: 6 }), (versions) => {
      let stored: StoredChunk[] = []
      for (const version of versions) {
        const content = version.join('')
        const known = stored.map(({ hash }) => hash)
        const made = plan(content, stored)
        stored = apply(stored, made)
        const wanted = apply([], plan(content, []))
        assert.deepEqual(stored.map(keyOf).sort(), wanted.map(keyOf).sort())
        assert.equal(made.chunks, stored.length)
        for (const { hash } of made.added) {
          const spare = known.filter((one) => one === hash).length
          assert.ok(chunkNote(note, content).filter((chunk) => chunk.hash === hash).length > spare)
        }
      }
    }),
  )
})
