import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { Transaction } from '../../src/platform/storage/database.ts'
import { statement } from '../../src/platform/storage/statement.ts'
import { isUniqueViolation } from '../../src/platform/storage/storage-errors.ts'
import { eachDatabase } from '../support/each-database.ts'
import { allItems, findItem, gate, increment, insertItem, itemValue, openWithItems, put } from './storage-items.ts'

eachDatabase('storage', (context) => {
  const { engine, openAgain } = context

  test('an operation happens as a whole or not at all', async () => {
    const db = await openWithItems(context)
    await assert.rejects(
      db.write(async (tx) => {
        await put(tx, 'a', 1)
        await put(tx, 'b', 2)
        throw new Error('changed my mind')
      }),
      /changed my mind/,
    )
    assert.equal((await allItems(db)).size, 0)
  })

  test('an operation that fails among others takes none of them with it', async () => {
    const db = await openWithItems(context, { poolSize: 10 })
    // Twice: the first failure makes SQLite change to savepoints, the second meets them.
    for (const round of ['first', 'second']) {
      const results = await Promise.allSettled(
        Array.from({ length: 30 }, (_, n) =>
          db.write(async (tx) => {
            await put(tx, `${round} ${n} a`, n)
            await put(tx, n % 7 === 3 ? `${round} ${n} a` : `${round} ${n} b`, n)
          }),
        ),
      )
      const failed = results.flatMap((result, n) => (result.status === 'rejected' ? [n] : []))
      assert.deepEqual(failed, [3, 10, 17, 24])
    }
    const items = await allItems(db)
    assert.equal(items.size, 2 * 26 * 2)
    for (const n of [3, 10, 17, 24]) assert.equal(items.has(`first ${n} a`), false)
  })

  test('an operation sees its own changes, and others do not before it is done', async () => {
    const db = await openWithItems(context)
    await db.write(async (tx) => {
      await put(tx, 'a', 1)
      assert.equal(await itemValue(tx, 'a'), 1)
      assert.equal(await itemValue(db, 'a'), undefined)
    })
    assert.equal(await itemValue(db, 'a'), 1)
  })

  test('what was answered is there for everybody at once', async () => {
    const db = await openWithItems(context)
    const other = await openAgain(db)
    await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        await db.write((tx) => put(tx, `${n}`, n))
        assert.equal(await itemValue(other, `${n}`), n)
        assert.equal(await itemValue(db, `${n}`), n)
      }),
    )
  })

  test('a snapshot shows one state, whatever is written meanwhile', async () => {
    const db = await openWithItems(context)
    await db.write((tx) => put(tx, 'a', 1))
    await db.read(async (snapshot) => {
      assert.equal(await itemValue(snapshot, 'a'), 1)
      await db.write((tx) => sql`update items set value = 2`.execute(tx.query))
      assert.equal(await itemValue(snapshot, 'a'), 1)
      assert.equal(await itemValue(db, 'a'), 2)
    })
    await assert.rejects(db.read((snapshot) => put(snapshot as Transaction, 'b', 1)))
  })

  test('more snapshots than connections wait for each other and all end', async () => {
    const db = await openWithItems(context, { poolSize: 3 })
    await db.write((tx) => put(tx, 'a', 1))
    const values = await Promise.all(Array.from({ length: 40 }, () => db.read((snapshot) => itemValue(snapshot, 'a'))))
    assert.deepEqual(new Set(values), new Set([1]))
  })

  test('two who read, add one and write back lose nothing', async () => {
    const db = await openWithItems(context, { poolSize: 10 })
    const other = await openAgain(db, { poolSize: 10 })
    await db.write((tx) => put(tx, 'counter', 0))
    const all = Array.from({ length: 12 }, (_, n) => (n % 2 ? db : other).write((tx) => increment(tx, 'counter')))
    const results = await Promise.allSettled(all)
    const done = results.filter(({ status }) => status === 'fulfilled').length
    // PostgreSQL may give one up after many tries, and then says so.
    assert.ok(done >= 8, `${done} of 12 got through`)
    assert.equal(await itemValue(db, 'counter'), done)
  })

  test('what follows a commit happens after it, and never after a failure', async () => {
    const db = await openWithItems(context)
    const heard: string[] = []
    const { opened, open } = gate()
    const unsubscribe = db.subscribe('topic', (body) => {
      heard.push(body)
      if (body === 'last') open()
    })
    const looks: Promise<number | undefined>[] = []
    const failing = db.write(async (tx) => {
      tx.signal('topic', 'never')
      tx.afterCommit(() => heard.push('never'))
      throw new Error('no')
    })
    await assert.rejects(failing)
    const other = await openAgain(db)
    await db.write(async (tx) => {
      await put(tx, 'a', 1)
      tx.signal('topic', 'last')
      tx.afterCommit(() => looks.push(itemValue(other, 'a')))
    })
    await opened
    unsubscribe()
    await db.write(async (tx) => tx.signal('topic', 'unheard'))
    assert.deepEqual(await Promise.all(looks), [1])
    assert.deepEqual(heard, ['last'])
  })

  test('who fails at a signal keeps it from nobody else, and the next ones are heard', async () => {
    const db = await openWithItems(context)
    const heard: string[] = []
    const { opened, open } = gate()
    db.subscribe('topic', () => {
      throw new Error('on purpose')
    })
    db.subscribe('topic', (body) => {
      heard.push(body)
      if (body === 'second') open()
    })
    await db.write(async (tx) => tx.signal('topic', 'first'))
    await db.write(async (tx) => tx.signal('topic', 'second'))
    await opened
    assert.deepEqual(heard, ['first', 'second'])
  })

  test('what is sent without waiting is seen by what follows, and is part of the change', async () => {
    const db = await openWithItems(context)
    await db.write(async (tx) => {
      for (let n = 0; n < 200; n++) await tx.send(insertItem, { id: `${n}`, value: n })
      assert.equal((await allItems(tx)).size, 200)
      await tx.send(insertItem, { id: 'last', value: 1 })
    })
    assert.equal((await allItems(db)).size, 201)
  })

  test('what is sent and fails undoes the change, and is told as the reason of whatever failed behind it', async () => {
    const db = await openWithItems(context)
    await db.writeOne(insertItem, { id: 'a', value: 1 })
    const twice = async (tx: Transaction) => {
      await tx.send(insertItem, { id: 'b', value: 2 })
      await tx.send(insertItem, { id: 'a', value: 2 })
    }
    await assert.rejects(db.write(twice), isUniqueViolation)
    for (const follow of [
      (tx: Transaction) => put(tx, 'c', 3),
      (tx: Transaction) => tx.send(insertItem, { id: 'c', value: 3 }),
      (tx: Transaction) => tx.changeEach(insertItem, [{ id: 'c', value: 3 }]),
    ]) {
      const going = db.write(async (tx) => {
        await twice(tx)
        await follow(tx)
      })
      await assert.rejects(going, isUniqueViolation)
    }
    assert.deepEqual(await allItems(db), new Map([['a', 1]]))
  })

  test('of statements side by side the one that failed is told, whatever was sent behind it', async () => {
    const db = await openWithItems(context)
    await db.writeOne(insertItem, { id: 'a', value: 1 })
    const going = db.write((tx) =>
      Promise.all([tx.change(insertItem, { id: 'a', value: 2 }), tx.send(insertItem, { id: 'b', value: 2 })]),
    )
    await assert.rejects(going, isUniqueViolation)
    assert.deepEqual(await allItems(db), new Map([['a', 1]]))
  })

  test('one statement is a change by itself, which others see when it is answered', async () => {
    const db = await openWithItems(context)
    const other = await openAgain(db)
    await db.writeOne(insertItem, { id: 'a', value: 1 })
    assert.equal(await itemValue(other, 'a'), 1)
    await assert.rejects(db.writeOne(insertItem, { id: 'a', value: 2 }), isUniqueViolation)
    assert.deepEqual(await allItems(other), new Map([['a', 1]]))
  })

  test('a callback after a commit that fails does not undo the answer', async () => {
    const db = await openWithItems(context)
    const value = await db.write(async (tx) => {
      await put(tx, 'a', 1)
      tx.afterCommit(() => {
        throw new Error('a defect')
      })
      return 'done'
    })
    assert.equal(value, 'done')
    assert.equal(await itemValue(db, 'a'), 1)
  })

  test('others have their turn while a change works for long without a query', async () => {
    const db = await openWithItems(context)
    let turns = 0
    const value = await db.write(
      async (tx) => {
        const began = performance.now()
        setImmediate(function again() {
          turns++
          setImmediate(again).unref()
        })
        while (turns < 5 && performance.now() - began < 5_000) await tx.breathe()
        return 'done'
      },
      { alone: true },
    )
    assert.equal(value, 'done')
    assert.ok(turns >= 5, `${turns} turns`)
  })

  test('a transaction that ended is of no use to anybody', async () => {
    const db = await openWithItems(context)
    let leaked: Transaction | undefined
    await db.write(async (tx) => {
      leaked = tx
      await put(tx, 'a', 1)
    })
    const tx = leaked as Transaction
    await assert.rejects(put(tx, 'b', 1), /ended/)
    await assert.rejects(tx.change(insertItem, { id: 'b', value: 1 }), /ended/)
    await assert.rejects(tx.run(insertItem, { id: 'b', value: 1 }), /ended/)
    await assert.rejects(async () => {
      for await (const _ of tx.query
        .selectFrom('items' as never)
        .selectAll()
        .stream(1));
    }, /ended/)
    assert.equal((await allItems(db)).size, 1)
  })

  test('a change that goes on after a failed statement is done or refused, never lost in silence', async () => {
    const db = await openWithItems(context)
    await db.write((tx) => put(tx, 'taken', 1))
    let followed = false
    const change = db.write(async (tx) => {
      tx.afterCommit(() => (followed = true))
      await put(tx, 'taken', 2).catch(() => {})
    })
    const next = db.write(async (tx) => {
      await put(tx, 'before', 1)
      await put(tx, 'taken', 2).catch(() => {})
    })
    const [first, second] = await Promise.allSettled([change, next])
    assert.equal(followed, first.status === 'fulfilled')
    assert.equal(await itemValue(db, 'before'), second.status === 'fulfilled' ? 1 : undefined)
  })

  test('a duplicate is told apart from other failures', async () => {
    const db = await openWithItems(context)
    await db.write((tx) => put(tx, 'a', 1))
    const duplicate = await db.write((tx) => put(tx, 'a', 2)).catch((error: unknown) => error)
    assert.equal(isUniqueViolation(duplicate), true)
    const missing = await db.write((tx) => put(tx, 'b', null as never)).catch((error: unknown) => error)
    assert.ok(missing instanceof Error)
    assert.equal(isUniqueViolation(missing), false)
  })

  test('a statement takes its inputs by name and keeps its constants', async () => {
    const db = await openWithItems(context)
    await db.write(async (tx) => {
      assert.deepEqual(await tx.run(insertItem, { id: 'a', value: 5 }), [])
      await tx.run(insertItem, { value: -1, id: 'hidden' })
      assert.equal((await tx.run(findItem, { id: 'a' })).length, 1)
    })
    const [row] = await db.run(findItem, { id: 'a' })
    assert.deepEqual({ ...row }, { id: 'a', value: 5, kind: 'constant' })
    assert.deepEqual(await db.run(findItem, { id: 'hidden' }), [])
    assert.equal((await db.read((snapshot) => snapshot.run(findItem, { id: 'a' }))).length, 1)
  })

  test('a change says how many rows it changed', async () => {
    const db = await openWithItems(context)
    const raise = statement<{ above: number }>(
      (_query, p) => sql`update items set value = value + 1 where value > ${p('above')}`,
    )
    await db.write(async (tx) => {
      for (const value of [1, 2, 3]) assert.equal(await tx.change(insertItem, { id: `${value}`, value }), 1)
      assert.equal(await tx.change(raise, { above: 1 }), 2)
      assert.equal(await tx.change(raise, { above: 9 }), 0)
    })
    assert.deepEqual([...(await allItems(db)).values()].sort(), [1, 3, 4])
  })

  test('a long answer arrives in pieces, from one state, and may be given up half-way', async () => {
    const db = await openWithItems(context)
    await db.write(async (tx) => {
      for (let n = 0; n < 1_000; n++) await tx.run(insertItem, { id: `${n}`, value: n })
    })
    const rows = await db.read(async (snapshot) => {
      const found: number[] = []
      const query = snapshot.query
        .selectFrom('items' as never)
        .select('value' as never)
        .where('value' as never, '>=', 100 as never)
      for await (const row of query.stream(64) as AsyncIterable<{ value: number }>) {
        if (found.push(row.value) === 10)
          await db.write((tx) => sql`delete from items where value > 500`.execute(tx.query))
      }
      return found
    })
    assert.equal(rows.length, 900)
    await db.read(async (snapshot) => {
      for await (const _ of snapshot.query
        .selectFrom('items' as never)
        .selectAll()
        .stream(10))
        break
      assert.equal((await allItems(snapshot)).size, 501)
    })
    await assert.rejects(async () => {
      for await (const _ of db.query
        .selectFrom('items' as never)
        .selectAll()
        .stream(10));
    }, /Database.read/)
  })

  test('transactions that go round the writer are refused', async () => {
    const db = await openWithItems(context)
    await assert.rejects(
      db.query.transaction().execute(async () => {}),
      /Database.write/,
    )
  })

  test('a closed database says so, after what it had accepted', async () => {
    const db = await openWithItems(context)
    const other = await openAgain(db)
    const accepted = Array.from({ length: 5 }, (_, n) => db.write((tx) => put(tx, `${n}`, n)))
    if (engine === 'postgres') await Promise.all(accepted)
    await db.close()
    await Promise.all(accepted)
    assert.equal((await allItems(other)).size, 5)
    await assert.rejects(db.write((tx) => put(tx, 'late', 1)))
  })

  test('any mixture of operations leaves what the successful ones add up to', async () => {
    const db = await openWithItems(context, { poolSize: 8 })
    const step = fc.record({ id: fc.integer({ min: 0, max: 9 }), add: fc.integer({ min: 1, max: 5 }) })
    const operation = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 4 }), fails: fc.boolean() })
    const model = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 1, maxLength: engine === 'sqlite' ? 12 : 5 }),
        async (batch) => {
          const results = await Promise.allSettled(
            batch.map(({ steps, fails }) =>
              db.write(async (tx) => {
                for (const { id, add } of steps) {
                  await sql`insert into items (id, value) values (${`${id}`}, ${add})
                  on conflict (id) do update set value = items.value + excluded.value`.execute(tx.query)
                }
                if (fails) throw new Error('on purpose')
              }),
            ),
          )
          for (const [n, { steps, fails }] of batch.entries()) {
            if (fails) assert.equal(results[n]?.status, 'rejected')
            if (results[n]?.status === 'rejected') continue
            for (const { id, add } of steps) model.set(`${id}`, (model.get(`${id}`) ?? 0) + add)
          }
          assert.deepEqual(new Map([...(await allItems(db))].sort()), new Map([...model].sort()))
        },
      ),
      { numRuns: engine === 'sqlite' ? 60 : 15 },
    )
  })
})
