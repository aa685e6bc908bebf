import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseQuestion } from '../question/question.ts'
import type { Place } from './place.ts'
import { WantedWords } from './wanted-words.ts'

const asked = (words: readonly string[]) => new WantedWords(parseQuestion(`"${words.join(' ')}"`))

/** Wherever all words of the phrase follow each other. */
function plainSearch(phrase: readonly string[], words: readonly string[]): Place[] {
  const starts = words.map((_, at) => words.slice(0, at).join(' ').length + Math.min(at, 1))
  const endOf = (at: number) => (starts[at] as number) + (words[at] as string).length
  return words.flatMap((_, at) => {
    if (!phrase.every((word, index) => words[at + index] === word)) return []
    const whole = { start: starts[at] as number, end: endOf(at + phrase.length - 1) }
    return phrase.map((_word, index) => {
      return { start: starts[at + index] as number, end: endOf(at + index), terms: [index], phrase: whole }
    })
  })
}

function inOrder(places: readonly Place[]): Place[] {
  return [...places].sort((one, other) => one.start - other.start || (one.terms[0] ?? 0) - (other.terms[0] ?? 0))
}

describe('a phrase', () => {
  test('is found wherever a plain search finds it, however it repeats itself, in words and in runs', () => {
    for (const [one, other] of [
      ['a', 'bb'],
      ['中', '文'],
      ['a', '中'],
    ] as const) {
      const word = fc.oneof({ weight: 4, arbitrary: fc.constant(one) }, fc.constant(other))
      const phrases = fc.tuple(fc.array(word, { minLength: 1, maxLength: 4 }), fc.integer({ min: 2, max: 32 }))
      // No more words than give all the places that are looked for.
      fc.assert(
        fc.property(phrases, fc.array(word, { maxLength: 33 }), fc.boolean(), ([unit, length], others, hasIt) => {
          const phrase = Array.from({ length }, (_, at) => unit[at % unit.length] as string)
          const words = (hasIt ? [...others.slice(0, 9), ...phrase, ...others] : others).slice(0, 33)
          assert.deepEqual(inOrder(asked(phrase).placesIn(words.join(' '))), inOrder(plainSearch(phrase, words)))
        }),
      )
    }
  })

  test('that a long text nearly has at every place is not found there, and at its end it is', () => {
    for (const [word, other] of [
      ['a', 'b'],
      ['中', '文'],
    ] as const) {
      const phrase = asked([...Array<string>(31).fill(word), other])
      const text = `${word} `.repeat(100_000)
      assert.deepEqual(phrase.placesIn(text), [])
      const places = phrase.placesIn(`${text}${other}`)
      assert.deepEqual([places.length, places.at(-1)?.end], [32, text.length + other.length])
    }
  })

  test('of signs without blanks that a text has at every place is found no oftener than is looked for', () => {
    assert.equal(asked(Array<string>(32).fill('株')).placesIn('㈱'.repeat(20_000)).length, 300)
  })
})
