import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { managedRoleHolds } from '../../src/platform/auth/managed-roles.ts'
import { PERMISSIONS } from '../../src/platform/auth/permissions.ts'
import { RATE_LIMIT_BUCKETS } from '../../src/users/settings.ts'

const PAGE = readFileSync(new URL('../../docs/users.md', import.meta.url), 'utf8')

/** The cells of the table whose first heading is this one. */
function rowsOf(heading: string): string[][] {
  const table = PAGE.slice(PAGE.indexOf(`\n| ${heading} |`) + 1).split('\n\n')[0] as string
  const cells = (line: string) => line.split('|').slice(1, -1)
  return table
    .split('\n')
    .slice(2)
    .map((line) => cells(line).map((cell) => cell.trim()))
}

function codesIn(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] as string)
}

test('docs/users.md lists every permission, with the managed roles that hold it', () => {
  const listed = rowsOf('Permission').flatMap(([names, , admin, standard, readOnly]) =>
    codesIn(names).map((name) => [name, admin === '✔', standard === '✔', readOnly === '✔'] as const),
  )
  const held = PERMISSIONS.map(
    (permission) =>
      [
        permission.name,
        managedRoleHolds('admin', permission),
        managedRoleHolds('standard', permission),
        managedRoleHolds('read_only', permission),
      ] as const,
  )
  assert.deepEqual(listed.toSorted(), held.toSorted())
})

test('docs/users.md lists every bucket of the rate limits with its default', () => {
  const listed = rowsOf('Bucket').map(([name, rate]) => [codesIn(name)[0], rate])
  const real = Object.entries(RATE_LIMIT_BUCKETS).map(([name, { limit, period }]) => [
    name,
    `${limit} in ${period.replace('s', ' s')}`,
  ])
  assert.deepEqual(listed, real)
})
