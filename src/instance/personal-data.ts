/** What the public face keeps about people: how it is erased, and what a person gets to see of it. */
import { randomUUID } from 'node:crypto'
import { blankMentions } from '../platform/audit/store-blanking.ts'
import type { ErasedPerson, Person, PersonalDataPart } from '../platform/personal-data/personal-data.ts'
import type { Transaction } from '../platform/storage/database.ts'
import type { InstanceChanges } from './changes.ts'
import { accountNameOf, contactKey } from './contact/account-name.ts'
import { deleteAccountName, findAccountName, findContactUser } from './contact/store-contact.ts'
import { deleteLogInsOf, isAnonymized, logInDaysOf, renameLogIns } from './numbers/store-log-ins.ts'
import { dateOf } from './numbers/weeks.ts'
import { deleteSetting, readSettingRows } from './settings/store-settings.ts'

// Changes of the settings; the second is what earlier versions called them.
const SETTINGS_ACTIONS = ['settings.changed', 'instance.updated']

export function instancePersonalData({ changes }: { changes: InstanceChanges }): PersonalDataPart[] {
  return [
    // Before the account's name, which may be how the person was named.
    { name: 'instance_contact', erase: (tx, person) => eraseContact(tx, person, changes) },
    {
      name: 'log_in_days',
      erase: eraseLogIns,
      exportOf: async (reader, { id }) => (await logInDaysOf(reader, id)).map(dateOf),
    },
    {
      name: 'account_name',
      erase: (tx, { id }) => deleteAccountName(tx, id),
      exportOf: async (reader, { id }) => (await findAccountName(reader, id)) ?? null,
    },
  ]
}

/** A name alone may be a word like any other; this is how an event tells that it became the contact. */
function asContact(name: string): string {
  return JSON.stringify(`contact.user: ${JSON.stringify(name)}`).slice(1, -1)
}

/**
 * The random value is the same in all rows, so that the user stays one of those who were there in a week. It carries no
 * time, which would lead to the event of the anonymization.
 */
async function eraseLogIns(tx: Transaction, { id }: Person): Promise<void> {
  // Once more: what was on its way belongs to days that are renamed already.
  if (await isAnonymized(tx, id)) await deleteLogInsOf(tx, id)
  else await renameLogIns(tx, id, randomUUID())
}

/** An administrator may have named the person as the contact, in any way in which a user is found. */
async function eraseContact(tx: Transaction, person: ErasedPerson, changes: InstanceChanges): Promise<void> {
  const { id, organizationId, email, handle, formerEmails } = person
  const addresses = [email, handle, ...formerEmails]
  const names = [await findAccountName(tx, id), accountNameOf(handle), handle.split('@')[0]]
  const texts = [...addresses, ...names.flatMap((name) => (name ? [asContact(name)] : []))]
  for (const action of SETTINGS_ACTIONS) await blankMentions(tx, { organizationId, action, texts })
  const stored = new Map((await readSettingRows(tx)).map(({ key, value }) => [key, value]))
  const [user, address] = ['contact.user', 'contact.email'].map((key) => JSON.parse(stored.get(key) ?? 'null'))
  const isUser = typeof user === 'string' && (await isNamed(tx, user, person))
  const isAddress = typeof address === 'string' && addresses.includes(contactKey(address))
  if (isUser) await deleteSetting(tx, 'contact.user')
  if (isAddress) await deleteSetting(tx, 'contact.email')
  // Once more: it may have been erased by a command beside this server, which on SQLite did not hear of it.
  const isAgain = await isAnonymized(tx, id)
  if (isUser || isAddress || isAgain) changes.announce(tx)
}

/** Also by an address that leads to nobody since the person has another one. */
async function isNamed(tx: Transaction, text: string, { id, formerEmails }: ErasedPerson): Promise<boolean> {
  const found = await findContactUser(tx, text)
  return found === undefined ? formerEmails.includes(contactKey(text)) : found.id === id
}
