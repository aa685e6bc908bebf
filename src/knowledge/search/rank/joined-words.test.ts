import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinedWords } from './joined-words.ts'
import { WordList } from './word-list.ts'

function joined(question: string): string[] {
  const list = new WordList()
  return joinedWords(question, list).map((piece) => piece.map((number) => list.words[number]).join(' '))
}

test('words that signs join belong together, words beside each other do not', () => {
  assert.deepEqual(joined("what changed in Anna's 1.0.2 of 2024-05-06, and why?"), ['1 0 2', '2024 05 06'])
})

test('very many words that signs join are none: each place of a note that begins as they do would be compared with all of them', () => {
  assert.deepEqual(joined('1.'.repeat(16)), ['1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1'])
  assert.deepEqual(joined('1.'.repeat(17)), [])
})
