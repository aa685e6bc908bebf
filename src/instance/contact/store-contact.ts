import { type Selectable, sql } from 'kysely'
import type { UserId } from '../../platform/auth/principal.ts'
import { findFirstAdministrator } from '../../platform/auth/store.ts'
import type { UsersTable } from '../../platform/auth/tables.ts'
import { parseId } from '../../platform/ids/uuid.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import '../tables.ts'
import { accountNameOf, contactKey, numberedName } from './account-name.ts'

const COLUMNS = [
  'id',
  'handle_key',
  'email_key',
  'name',
  'title',
  'status',
  'service_account',
  'anonymized_at',
  'created_at',
] as const

export type ContactRow = Pick<Selectable<UsersTable>, (typeof COLUMNS)[number]>

export async function findUserRow(reader: Reader, id: UserId): Promise<ContactRow | undefined> {
  return reader.query.selectFrom('users').select(COLUMNS).where('id', '=', id).executeTakeFirst()
}

/** By id, handle, email, name of the account or local part of the handle; of several the oldest. */
export async function findContactUser(reader: Reader, text: string): Promise<ContactRow | undefined> {
  const id = parseId<'User'>(text.trim())
  if (id !== undefined) return findUserRow(reader, id)
  const key = contactKey(text)
  const users = () =>
    reader.query.selectFrom('users').select(COLUMNS).where('anonymized_at', 'is', null).orderBy('created_at').limit(1)
  const named = reader.query.selectFrom('account_names').select('user_id').where('username', '=', key)
  return (
    (await users().where('handle_key', '=', key).executeTakeFirst()) ??
    (await users().where('email_key', '=', key).where('service_account', '=', 0).executeTakeFirst()) ??
    (await users().where('id', 'in', named).executeTakeFirst()) ??
    (await users()
      .where(sql<boolean>`handle_key like ${`${escaped(key)}@%`} escape '\\'`)
      .executeTakeFirst())
  )
}

/** The oldest administrator who is Active. */
export async function findDefaultContact(reader: Reader): Promise<ContactRow | undefined> {
  const [administrator] = await reader.run(findFirstAdministrator, {})
  return administrator && findUserRow(reader, administrator.user_id)
}

export async function findAccountName(reader: Reader, userId: UserId): Promise<string | undefined> {
  const row = await reader.query
    .selectFrom('account_names')
    .select('username')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.username
}

/** The name that the user's account would be given now: who was there earlier has the lower number. */
export async function nextAccountName(reader: Reader, user: ContactRow): Promise<string> {
  const base = accountNameOf(user.handle_key)
  let number = (await countEarlierNamesakes(reader, user, base)) + 1
  while (await isTaken(reader, numberedName(base, number))) number += 1
  return numberedName(base, number)
}

/** Kept from then on, whatever becomes of the handle. */
export async function keepAccountName(tx: Transaction, userId: UserId): Promise<void> {
  const user = await findUserRow(tx, userId)
  if (user === undefined || user.anonymized_at !== null || (await findAccountName(tx, userId)) !== undefined) return
  await tx.query
    .insertInto('account_names')
    .values({ user_id: userId, username: await nextAccountName(tx, user) })
    .execute()
}

export async function deleteAccountName(tx: Transaction, userId: UserId): Promise<void> {
  await tx.query.deleteFrom('account_names').where('user_id', '=', userId).execute()
}

async function countEarlierNamesakes(reader: Reader, user: ContactRow, base: string): Promise<number> {
  // Each `_` of the name may have been any character, which is what it means in a pattern.
  const rows = await reader.query
    .selectFrom('users')
    .select('handle_key')
    .where('id', '<>', user.id)
    .where((eb) => eb.or([eb('handle_key', 'like', base), eb('handle_key', 'like', `${base}@%`)]))
    .where((eb) =>
      eb.or([
        eb('created_at', '<', user.created_at),
        eb.and([eb('created_at', '=', user.created_at), eb('id', '<', user.id)]),
      ]),
    )
    .execute()
  return rows.filter(({ handle_key: handle }) => accountNameOf(handle) === base).length
}

async function isTaken(reader: Reader, username: string): Promise<boolean> {
  const row = await reader.query
    .selectFrom('account_names')
    .select('user_id')
    .where('username', '=', username)
    .executeTakeFirst()
  return row !== undefined
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, (char) => `\\${char}`)
}
