import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { retitle } from './retitle.ts'

const HEAD = '---\ntitle: Old\ntype: note\n---\n\n'
const before = { text: `${HEAD}# Old\n\nbody`, title: 'Old' }

describe('retitle', () => {
  test('gives the new first heading when title and heading were the same', () => {
    assert.equal(retitle(before, `${HEAD}# New\n\nbody`), 'New')
    assert.equal(retitle(before, `${HEAD}# New #\r\nbody`), 'New')
    assert.equal(retitle(before, `${HEAD}# New\t##\nbody`), 'New')
    assert.equal(retitle(before, `${HEAD}# Learn C#\nbody`), 'Learn C#')
    assert.equal(retitle(before, `${HEAD}# Before\n# Old\n`), 'Before')
  })

  test('knows the title in whatever Unicode form the heading is typed', () => {
    for (const [typed, other] of [
      ['NFD', 'NFC'],
      ['NFC', 'NFD'],
    ] as const) {
      const named = { text: `${HEAD}# ${'Größe'.normalize(typed)}\n`, title: 'Größe'.normalize(other) }
      assert.equal(retitle(named, `${HEAD}# New\n`), 'New')
      assert.equal(retitle(named, `${HEAD}# ${named.title}\n`), null)
    }
  })

  test('gives none when the heading stayed or went away', () => {
    assert.equal(retitle(before, `${HEAD}# Old\n\nother`), null)
    assert.equal(retitle(before, `${HEAD}other`), null)
    assert.equal(retitle(before, `${HEAD}#\nother`), null)
    assert.equal(retitle(before, `${HEAD}# ##\nother`), null)
    assert.equal(retitle(before, `${HEAD}## New`), null)
    assert.equal(retitle(before, `${HEAD}# ${'x'.repeat(501)}`), null)
  })

  test('gives none when they differed before', () => {
    assert.equal(retitle({ ...before, title: 'Else' }, `${HEAD}# New`), null)
    assert.equal(retitle({ text: `${HEAD}body`, title: 'Old' }, `${HEAD}# New`), null)
  })

  test('gives none when the edit changed the title in the frontmatter', () => {
    assert.equal(retitle(before, '---\ntitle: Third\n---\n\n# New'), null)
    assert.equal(retitle(before, '---\ntitle: Old\ntags: [a]\n---\n\n# New'), 'New')
  })

  test('takes no comment and no code for the heading', () => {
    const text = '---\n# Old\ntitle: Old\n---\n\n```\n# Old\n```\n# Real'
    assert.equal(retitle({ text, title: 'Old' }, text.replace('# Real', '# New')), null)
    assert.equal(retitle({ text, title: 'Real' }, text.replace('# Real', '# New')), 'New')
  })
})
