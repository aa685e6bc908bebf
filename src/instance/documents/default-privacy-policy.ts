import { MICROS_PER_MS } from '../../platform/clock/clock.ts'
import type { MarkdownText } from '../public/instance-data.ts'

/** When the text below was last changed. */
const WRITTEN_ON = '2026-11-15T00:00:00Z'

/** Served until an administrator writes one. It describes what this software does; an operator may do more. */
export const DEFAULT_PRIVACY_POLICY: Readonly<MarkdownText> = {
  updatedAt: Date.parse(WRITTEN_ON) * MICROS_PER_MS,
  text: `This page describes what the software that runs %{domain} stores about people and why. The operators of %{domain} may add to it.

## What is stored

- **Your account.** Email address, handle, name and title if you give them, your roles, and when the account was made and last changed. An administrator creates accounts or invites people.
- **How you sign in.** Your password as a hash from which it cannot be read, a second factor in encrypted form if you use one, and your access tokens and keys as hashes.
- **Your sessions.** For each sign-in: when it began and was last used, the network address it came from, and what the browser or program called itself. Sessions end by themselves, and you can end them.
- **On which days you were here.** One entry for each day on which you signed in or used the server with your credentials. The entries make up the weekly numbers that %{domain} may show in public, which name nobody, and are removed after 26 weeks.
- **What you write.** Notes, their earlier versions, and who wrote and changed them when. Deleted notes stay in a trash for a while before they are removed.
- **Results that are delivered to other servers.** When somebody asks %{domain} to deliver a result, it stores the address of the receiver, what is to be delivered, and the outcome of each attempt. What is delivered leaves %{domain} and is in the hands of the receiver.
- **A log of changes.** Who changed accounts, rights, keys, notes or settings, when, and from which network address. It is there to find out what happened when something went wrong, and old entries are removed.
- **Technical records.** Counters by network address that protect the server against floods of requests, and a log of the server that its operators keep as long as they need it.

## Cookies

A cookie is set only when you sign in with a browser. It holds your session and nothing else. There is no advertising and no tracking.

## Who can see it

People with an account see what their rights allow. Everybody can see what %{domain} says about itself: its rules, its contact, its documents, and numbers that name nobody. The operators of the server can see what is in its database, apart from passwords, tokens and keys. Data is given to others only by the deliveries described above and by the mails that the server sends to you.

## How long it is kept

As long as you have an account, unless this page names a time. When an administrator anonymizes an account, its name, addresses, credentials and sessions are removed and the log no longer names the person; notes stay without their author's name. Backups that the operators keep are older than that and go with time.

## Your rights

Ask the operators for a copy of what is stored about you, for a correction, or to be removed: the server has functions for all three. How to reach them stands on the page about %{domain}.
`,
}
