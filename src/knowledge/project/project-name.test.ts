import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBareId } from '../../platform/ids/uuid.ts'
import { projectName, projectSlug, retiredKeys } from './project-name.ts'
import { absoluteProjectPath, projectPath } from './project-path.ts'
import { projectUrls } from './urls.ts'

const ID = '0198c0de-0000-7000-8000-0123456789ab'

test('a name has a slug of one segment, and one that leaves nothing is named after the id', () => {
  assert.deepEqual(projectName('  My Research ', ID), {
    name: 'My Research',
    nameFolded: 'my research',
    permalink: 'my-research',
  })
  assert.equal(projectName('a/b\\c', ID).permalink, 'a-b-c')
  assert.equal(projectName('🎉', ID).permalink, 'project-0123456789ab')
  assert.equal(projectName('Straße', ID).nameFolded, projectName('STRASSE', ID).nameFolded)
})

test('a name is 1 to 100 characters without control characters', () => {
  for (const name of ['', '  ', 'x'.repeat(101), 'a\nb', 'a\0b', 'a\u202eb', '\ud800']) {
    assert.throws(() => projectName(name, ID), { code: 'invalid_argument' }, JSON.stringify(name))
  }
  assert.equal(projectName('x'.repeat(100), ID).name.length, 100)
})

test('the keys of a deleted project cannot be those of a name', () => {
  const { nameFolded, permalink } = retiredKeys('deleted', ID)
  assert.notEqual(projectName(nameFolded, ID).nameFolded, nameFolded)
  assert.notEqual(projectSlug(permalink), permalink)
})

test('a path is recorded with single slashes, absolute, and never leads upwards', () => {
  assert.equal(projectPath('/data//notes/./x/'), '/data/notes/x')
  assert.equal(projectPath('notes'), '/notes')
  assert.equal(projectPath('C:\\notes\\x'), 'C:/notes/x')
  assert.equal(absoluteProjectPath('/a/b..c'), '/a/b..c')
  for (const path of ['', '/', '.', '/a/../b', '..', '/a\0b', `/${'x'.repeat(500)}`]) {
    assert.throws(() => projectPath(path), { code: 'invalid_argument' }, path)
  }
  assert.throws(() => absoluteProjectPath('notes/x'), /must be absolute/)
})

test('an id of a path may be in upper case and without hyphens; everything else is no id', () => {
  for (const text of [ID, ID.toUpperCase(), ID.replaceAll('-', ''), ID.replaceAll('-', '').toUpperCase()]) {
    assert.equal(parseBareId(text), ID)
  }
  for (const text of ['', 'main', '1', `${ID} `, ID.slice(1), `{${ID}}`, 'x'.repeat(32), 'x'.repeat(10_000)]) {
    assert.equal(parseBareId(text), null)
  }
})

test('what belongs to a project is reached under both prefixes', () => {
  assert.deepEqual(projectUrls('/knowledge/graph'), {
    url: '/v2/:project_id/knowledge/graph',
    aliases: ['/v2/projects/:project_id/knowledge/graph'],
  })
})
