import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimPlace, type WantedPlace } from '../../src/knowledge/note/place.ts'
import { eachDatabase } from '../support/each-database.ts'
import { LinkedNotes } from './links-fixture.ts'

eachDatabase('the place of a note', ({ open }) => {
  test('is taken by the note that is there, also where a thousand older ones are called so', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.db.write(async (tx) => {
      for (let at = 0; at < 1_000; at++) await notes.addIn(tx, { path: `d/${at}.md`, title: 'Same' })
    })
    const own = await notes.add({ path: 'Same.md', permalink: 'same' })
    const claim = (place: WantedPlace) => notes.db.write((tx) => claimPlace(tx, notes.project, place))
    await assert.rejects(claim({ filePath: 'Same.md', permalink: 'another' }), { code: 'conflict' })
    assert.equal(await claim({ filePath: 'e/New.md', permalink: 'same' }), 'same-1')
    assert.equal(await claim({ filePath: 'Same.md', permalink: 'same', ownId: own.id }), 'same')
  })

  test('has the first permalink that is free, however many notes have the ones before it', async () => {
    const notes = await LinkedNotes.open(await open())
    await notes.db.write(async (tx) => {
      for (let at = 0; at < 70; at++) {
        await notes.addIn(tx, { path: `${at}.md`, permalink: at === 0 ? 'same' : `same-${at}` })
      }
    })
    const place = { filePath: 'New.md', permalink: 'same' }
    assert.equal(await notes.db.write((tx) => claimPlace(tx, notes.project, place)), 'same-70')
  })

  test('has no permalink that another one has in another Unicode form, also where a thousand notes are called so', async () => {
    const notes = await LinkedNotes.open(await open())
    const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301']
    const claim = (permalink: string) =>
      notes.db.write((tx) => claimPlace(tx, notes.project, { filePath: 'New.md', permalink }))
    await notes.add({ path: 'First.md', permalink: `${composed}-1` })
    await notes.db.write(async (tx) => {
      for (let at = 0; at < 1_000; at++) await notes.addIn(tx, { path: `d/${at}.md`, title: composed })
    })
    assert.equal(await claim(decomposed), decomposed, 'titles are in nobody’s way')
    await notes.add({ path: 'Last.md', permalink: composed })
    assert.equal(await claim(decomposed), `${decomposed}-2`)
  })
})
