import type { Selectable } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { NamedDomainsTable } from '../tables.ts'
import type { PageBounds } from './id-page.ts'
import type { NamedDomain, NamedDomainList } from './named-domains.ts'
import { eachByName, pageOf } from './store-page.ts'

/** Newest first. */
export async function listNamedDomains(
  reader: Reader,
  list: NamedDomainList,
  bounds: PageBounds,
): Promise<NamedDomain[]> {
  return (await pageOf<Selectable<NamedDomainsTable>>(reader, list, bounds)).map(toNamedDomain)
}

export async function findNamedDomain(
  reader: Reader,
  list: NamedDomainList,
  domain: string,
): Promise<NamedDomain | undefined> {
  const row = await reader.query.selectFrom(list).selectAll().where('domain', '=', domain).executeTakeFirst()
  return row && toNamedDomain(row)
}

export async function insertNamedDomain(
  tx: Transaction,
  list: NamedDomainList,
  domain: string,
  now: Micros,
): Promise<NamedDomain> {
  const { id } = await tx.query
    .insertInto(list)
    .values({ domain, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, domain, createdAt: now }
}

export async function deleteNamedDomain(tx: Transaction, list: NamedDomainList, id: number): Promise<void> {
  await tx.query.deleteFrom(list).where('id', '=', id).execute()
}

/** All names of a list. */
export async function readDomainNames(reader: Reader, list: NamedDomainList | 'domain_blocks'): Promise<string[]> {
  const names: string[] = []
  const { query } = reader
  await eachByName(
    (after, limit) =>
      query
        .selectFrom(list as NamedDomainList)
        .select('domain')
        .where('domain', '>', after)
        .orderBy('domain')
        .limit(limit)
        .execute(),
    ({ domain }) => names.push(domain),
  )
  return names
}

function toNamedDomain({ id, domain, created_at: createdAt }: Selectable<NamedDomainsTable>): NamedDomain {
  return { id, domain, createdAt }
}
