import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BuiltinModel } from '../../semantic/builtin/builtin-model.ts'
import type { Candidate } from './candidate.ts'
import { rankedWords, rankNotes } from './rank-notes.ts'
import { createTokenMeaning } from './token-meaning.ts'

const MEANING = createTokenMeaning(BuiltinModel.table())

function note(noteId: number, title: string, text: string, similarity?: number): Candidate {
  return { noteId, title, text, ...(similarity !== undefined && { similarity }) }
}

function order(question: string, candidates: readonly Candidate[], meaning: typeof MEANING | null = MEANING): number[] {
  return rankNotes(question, candidates, { notes: candidates.length }, meaning).map(({ noteId }) => noteId)
}

const BOTH = [MEANING, null]

test('the note with the title that was asked for comes first, before one that says its words often', () => {
  const often = 'The release plan is late. A release needs a plan. Release, plan, release, plan.\n'.repeat(5)
  const candidates = [
    note(1, 'Meeting', often),
    note(2, 'Release plan', 'Nothing here yet.'),
    note(3, 'Lunch', 'Soup.'),
  ]
  for (const meaning of BOTH) assert.equal(order('release plan', candidates, meaning)[0], 2)
})

test('a rare word counts more than one that is in every note', () => {
  const candidates = [
    note(1, 'A', 'The server was started. The server works. The server is fine.'),
    note(2, 'B', 'The server has a zeppelin.'),
    note(3, 'C', 'The server sleeps.'),
  ]
  for (const meaning of BOTH) assert.equal(order('server zeppelin', candidates, meaning)[0], 2)
})

test('what a note is tagged with counts more than the word in a text, and less than in the title', () => {
  const candidates = [
    note(1, 'A', 'Other matters.', 0.4),
    note(2, 'B', 'Nothing about a zeppelin.'),
    { ...note(3, 'C', 'Nothing at all.'), tags: 'sky zeppelin' },
    note(4, 'Zeppelin', 'Nothing at all.'),
  ]
  for (const meaning of BOTH) assert.deepEqual(order('zeppelin', candidates, meaning), [4, 3, 2, 1])
})

test('a word of the place counts where the note has it nowhere else, other words of its meaning do not', () => {
  const candidates = [
    { ...note(1, 'A', 'Nothing about it.'), place: 'airships/A' },
    note(2, 'B', 'Nothing about it.', 0.3),
    { ...note(3, 'C', 'Nothing about it.'), place: 'zeppelins/C' },
  ]
  for (const meaning of BOTH) assert.equal(order('zeppelin', candidates, meaning)[0], 3)
  const [first, second] = rankNotes(
    'zeppelin',
    [note(1, 'Zeppelin', 'x'), { ...note(2, 'Zeppelin', 'x'), place: 'sky/zeppelin' }],
    { notes: 2 },
    MEANING,
  )
  assert.equal(first?.score, second?.score, 'the name of the file says what the title says')
})

test('words that stand together count more than the same words far apart', () => {
  const filler = 'Nothing of interest is written here at all.\n'.repeat(12)
  const candidates = [
    note(1, 'A', `The garden is green.\n${filler}A party begins.`),
    note(2, 'B', `${filler}We plan a garden party.\nThe end.`),
  ]
  for (const meaning of BOTH) assert.deepEqual(order('garden party', candidates, meaning), [2, 1])
})

test('in a conversation the words of the person who was named count more', () => {
  const candidates = [
    note(1, 'Monday', 'Ada: Hello!\nBob: My dog is ill.\nAda: Oh no.\nAda: I will bake bread.\nBob: Fine.'),
    note(2, 'Tuesday', 'Bob: Hello!\nAda: My dog is ill.\nBob: Oh no.\nBob: I will bake bread.\nAda: Fine.'),
    note(3, 'Wednesday', 'Ada: Hello!\nBob: The rain has stopped.\nAda: Then we walk home.'),
    note(4, 'Thursday', 'Bob: Hello!\nAda: The train was late.\nBob: As always.'),
  ]
  assert.equal(order('Is the dog of Bob ill?', candidates)[0], 1)
  assert.equal(order('Is the dog of Ada ill?', candidates)[0], 2)
})

test('a word of the same meaning finds a note that has none of the words', () => {
  const candidates = [note(1, 'A', 'We bought bread and milk.'), note(2, 'B', 'A puppy barked all night.')]
  assert.deepEqual(order('dogs', candidates), [2, 1])
})

test('another form of a word counts nearly as much, in text mode too', () => {
  const candidates = [note(1, 'A', 'Bread and milk.'), note(2, 'B', 'They were running.'), note(3, 'C', 'They run.')]
  assert.deepEqual(order('run', candidates, null), [3, 2, 1])
})

test('the beginning of a word finds it when nothing has the word itself', () => {
  const candidates = [note(1, 'A', 'Bread and milk.'), note(2, 'B', 'The deployment failed.')]
  assert.deepEqual(order('deplo', candidates, null), [2, 1])
})

test('a note without vectors yet is as near as the nearest, one that is not among the near ones as the last of them', () => {
  const said = [note(1, 'A', 'A zeppelin.', 0.9), note(2, 'B', 'A zeppelin.', 0.2)]
  const scoreOf = (candidate: Candidate) => {
    const ranked = rankNotes('zeppelin', [...said, candidate], { notes: 3 }, MEANING)
    return new Map(ranked.map(({ noteId, score }) => [noteId, score]))
  }
  const awaited = scoreOf({ ...note(3, 'C', 'A zeppelin.'), isAwaited: true })
  assert.equal(awaited.get(3), awaited.get(1))
  const far = scoreOf(note(3, 'C', 'A zeppelin.'))
  assert.equal(far.get(3), far.get(2))
})

test('similar vectors decide between notes whose words say the same', () => {
  const candidates = [note(1, 'A', 'Bread.', 0.2), note(2, 'B', 'Bread.', 0.7)]
  assert.deepEqual(order('bread', candidates), [2, 1])
})

test('a note that is not among the nearest is taken for no nearer than the last of them', () => {
  const ranked = rankNotes('bread', [note(1, 'A', 'Bread.'), note(2, 'B', 'Bread.', 0.3)], { notes: 2 }, MEANING)
  assert.equal(ranked[0]?.score, ranked[1]?.score)
})

test('the passage is the part of the text that answers', () => {
  const text = `${'Nothing here.\n'.repeat(20)}The zeppelin landed.\n${'Nothing there.\n'.repeat(20)}`
  const [first] = rankNotes('zeppelin', [note(1, 'A', text)], { notes: 1 }, MEANING)
  assert.match(text.slice(first?.passage.start, first?.passage.end), /The zeppelin landed/)
})

test('a note that has nothing of the question scores almost nothing, one that has everything nearly the most', () => {
  const candidates = [note(1, 'Garden party', 'A garden party.\nGarden party!', 0.9), note(2, 'Sums', '17 + 4', 0)]
  const [first, last] = rankNotes('garden party', candidates, { notes: 2 }, MEANING)
  assert.ok((first?.score ?? 0) > 0.7, `${first?.score}`)
  assert.ok((last?.score ?? 1) < 0.1, `${last?.score}`)
})

test('numbers of notes from the index weigh words that the candidates alone would not tell apart', () => {
  const candidates = [note(1, 'A', 'Apples.'), note(2, 'B', 'Pears.')]
  const rank = (apples: number, pears: number) => {
    const holding = new Map([
      ['apples', apples],
      ['pears', pears],
    ])
    return rankNotes('apples pears', candidates, { notes: 1000, holding }, null)[0]?.noteId
  }
  assert.equal(rank(900, 2), 2)
  assert.equal(rank(2, 900), 1)
})

test('Chinese text is ranked by its pairs of characters', () => {
  const candidates = [note(1, '甲', '今天天气很好'), note(2, '乙', '我们去东京旅行')]
  for (const meaning of BOTH) assert.equal(order('东京', candidates, meaning)[0], 2)
})

test('the words that statistics are wanted for are those that count, once each', () => {
  assert.deepEqual(rankedWords('When did the Release plan get released?'), ['release', 'plan'])
  assert.deepEqual(rankedWords('What is it?'), ['what', 'is', 'it'])
  assert.deepEqual(rankedWords(' ?! '), [])
})

test('any question over any notes gives each note once, with a score from 0 to 1 and a passage inside its text', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.lorem({ maxCount: 30 }))
  const anyNote = fc.record({
    title: anyText,
    text: anyText,
    tags: anyText,
    place: anyText,
    similarity: fc.option(fc.double({ min: -1, max: 1, noNaN: true })),
  })
  fc.assert(
    fc.property(anyText, fc.array(anyNote, { maxLength: 6 }), fc.boolean(), (question, notes, hasMeaning) => {
      const candidates = notes.map(({ title, text, similarity, ...filed }, noteId) => {
        return { ...note(noteId, title, text, similarity ?? undefined), ...filed }
      })
      const ranked = rankNotes(question, candidates, { notes: notes.length }, hasMeaning ? MEANING : null)
      assert.deepEqual(ranked.map(({ noteId }) => noteId).sort(), [...notes.keys()].sort())
      for (const { noteId, score, passage } of ranked) {
        assert.ok(score >= 0 && score <= 1, `score ${score}`)
        assert.ok(passage.start >= 0 && passage.end >= passage.start)
        assert.ok(passage.end <= (notes[noteId]?.text.length ?? 0))
      }
    }),
    { numRuns: 50 },
  )
})

test('a question in a script that the model never saw is answered by its words', () => {
  const [first, second] = rankNotes(
    '𖽑𖽓',
    [
      { noteId: 1, title: 'A', text: 'rhoncus' },
      { noteId: 2, title: 'B', text: 'lorem 𖽑𖽓 ipsum' },
    ],
    { notes: 2 },
    MEANING,
  )
  assert.deepEqual([first?.noteId, second?.noteId], [2, 1])
  assert.ok((first?.score as number) > (second?.score as number) && (second?.score as number) >= 0)
})

test('of notes in a script that the model never saw, the one with all words of the question comes first', () => {
  const candidates = [
    note(1, 'ქალაქი ზღვა', 'ძველი ქალაქი ზღვასთან მდებარეობს. ყავა იქ. ქუჩები ვიწროა.'),
    note(2, 'დილა', 'საუზმეზე მიყვარს ყავა რძით და შაქრით.'),
    note(3, 'მთები მაღალი', 'კავკასიონის მთები მაღალია და თოვლიანი. ყავა. მდინარეები ჩქარია.'),
  ]
  for (const meaning of BOTH) assert.equal(order('ყავა რძით', candidates, meaning)[0], 2)
})
