import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readIdentifier } from './read-identifier.ts'

test('a name is read out of a link, an address or blanks around it, and what was sent is kept', () => {
  assert.deepEqual(readIdentifier('Plan'), { target: 'Plan', name: 'Plan', sent: undefined, namesProject: false })
  for (const sent of [
    ' Plan ',
    '[[Plan]]',
    ' [[ Plan ]] ',
    '[[Plan|the plan]]',
    'Plan|x',
    'memory://Plan',
    '[[memory://Plan]]',
  ]) {
    assert.deepEqual(readIdentifier(sent), { target: 'Plan', name: 'Plan', sent, namesProject: false }, sent)
  }
  for (const sent of ['[[Plan', 'Plan]]']) assert.equal(readIdentifier(sent).name, sent)
})

test('an anchor belongs to the name and not to the target', () => {
  const { target, name, sent } = readIdentifier('Plan#Goals')
  assert.deepEqual([target, name, sent], ['Plan', 'Plan#Goals', undefined])
  for (const sent of ['#idea', '[[#idea|x]]', '# idea | x']) {
    assert.deepEqual(
      [readIdentifier(sent).target, readIdentifier(sent).name],
      ['', sent.includes(' ') ? '# idea' : '#idea'],
    )
  }
})

test('a project is named by colons before the name, not by those in what is shown', () => {
  assert.deepEqual(readIdentifier('other::Plan'), {
    target: 'other/Plan',
    name: 'other/Plan',
    sent: 'other::Plan',
    namesProject: true,
  })
  assert.equal(readIdentifier('other::Plan|x').namesProject, true)
  assert.equal(readIdentifier('Plan|a::b').namesProject, false)
  assert.equal(readIdentifier('Plan#a::b').namesProject, false)
  assert.equal(readIdentifier('::Plan').namesProject, false)
})
