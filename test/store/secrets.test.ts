import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { openCipher } from '../../src/platform/secrets/open-cipher.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'

const KEY = randomBytes(32).toString('base64')
const clock = new SystemClock()

function cipherOf(db: Database, encryptionKey: string | null = null) {
  return openCipher({ db, clock, encryptionKey })
}

async function storedKey(db: Database): Promise<string> {
  const row = await db.query
    .selectFrom('installation')
    .select('value')
    .where('key', '=', 'data_key')
    .executeTakeFirstOrThrow()
  return row.value
}

eachDatabase('the key for stored secrets', ({ open, openAgain }) => {
  test('without a setting every process on the database has the same one, however they start', async () => {
    const db = await open()
    const other = await openAgain(db)
    const [mine, theirs] = await Promise.all([cipherOf(db), cipherOf(other)])
    const text = mine.encrypt(Buffer.from('secret'), 'x')
    assert.equal(theirs.decrypt(text, 'x')?.toString(), 'secret')
    assert.equal((await cipherOf(db)).decrypt(text, 'x')?.toString(), 'secret')
  })

  test('with a key from the start, the database never holds what opens its secrets', async () => {
    const db = await open()
    const text = (await cipherOf(db, KEY)).encrypt(Buffer.from('secret'), 'x')
    assert.match(await storedKey(db), /^v1\./)
    assert.equal((await cipherOf(db, KEY)).decrypt(text, 'x')?.toString(), 'secret')
    const hex = Buffer.from(KEY, 'base64').toString('hex')
    assert.equal((await cipherOf(db, hex)).decrypt(text, 'x')?.toString(), 'secret')
  })

  test('a key that is set later locks what was open, and nothing is lost', async () => {
    const db = await open()
    const text = (await cipherOf(db)).encrypt(Buffer.from('secret'), 'x')
    assert.match(await storedKey(db), /^open\./)
    assert.equal((await cipherOf(db, KEY)).decrypt(text, 'x')?.toString(), 'secret')
    assert.match(await storedKey(db), /^v1\./)
    assert.equal((await cipherOf(db, KEY)).decrypt(text, 'x')?.toString(), 'secret')
  })

  test('a command with a key leaves open what is open: only a start of the server, which needs the key from then on, locks it', async () => {
    const db = await open()
    const text = (await cipherOf(db)).encrypt(Buffer.from('secret'), 'x')
    const command = await openCipher({ db, clock, encryptionKey: KEY, mayLock: false })
    assert.equal(command.decrypt(text, 'x')?.toString(), 'secret')
    assert.match(await storedKey(db), /^open\./)
  })

  test('another key, or none any more, is refused with a sentence', async () => {
    const db = await open()
    await cipherOf(db, KEY)
    const other = randomBytes(32).toString('hex')
    await assert.rejects(cipherOf(db, other), { message: /^auth\.encryption_key is not the key/ })
    await assert.rejects(cipherOf(db), { message: /set auth\.encryption_key/ })
  })
})
