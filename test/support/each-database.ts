import { cpSync } from 'node:fs'
import { after, describe } from 'node:test'
import { type Clock, SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import type { Engine } from '../../src/platform/storage/engine.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { postgresUnavailable } from './postgres.ts'
import { createDatabase, type TestDatabase } from './postgres-database.ts'
import { silentLogger } from './silent-logger.ts'
import { tempDir } from './temp-dir.ts'

export interface OpenTestDatabase {
  clock?: Clock
  /** False: without any table, as a first start finds it. */
  migrated?: boolean
  poolSize?: number
}

/** Where a database lies, in the words of `openDatabase`. */
export interface Place {
  dataDir: string
  databaseUrl: string | null
}

export interface DatabaseContext {
  engine: Engine
  /** A new database with our schema. Closed after the suite unless the test does it. */
  open(options?: OpenTestDatabase): Promise<Database>
  /** A second Database on the same data, as another process would have it. */
  openAgain(db: Database, options?: Omit<OpenTestDatabase, 'migrated'>): Promise<Database>
  /** What a child process needs to open the same data. */
  placeOf(db: Database): Place
}

/** Describes the suite twice: on SQLite and on a real PostgreSQL. What holds on one must hold on the other. */
export function eachDatabase(name: string, suite: (context: DatabaseContext) => void): void {
  describe(`${name} (SQLite)`, () => suite(contextFor('sqlite', sqlitePlace)))
  const unavailable = postgresUnavailable()
  describe(`${name} (PostgreSQL)`, { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
    const databases: TestDatabase[] = []
    const newPlace = async (migrated: boolean) => {
      const database = await createDatabase({ migrated })
      databases.push(database)
      return { dataDir: tempDir(), databaseUrl: database.url }
    }
    const context = contextFor('postgres', newPlace)
    after(() => Promise.all(databases.map((database) => database.drop())))
    suite(context)
  })
}

function contextFor(engine: Engine, newPlace: (migrated: boolean) => Promise<Place>): DatabaseContext {
  const places = new Map<Database, Place>()
  const openAt = async (place: Place, { clock = new SystemClock(), poolSize = 5 }: OpenTestDatabase) => {
    const db = closingOnce(await openDatabase({ ...place, poolSize, clock, log: silentLogger() }))
    places.set(db, place)
    return db
  }
  const placeOf = (db: Database) => {
    const place = places.get(db)
    if (place === undefined) throw new Error('This database was not opened by the context')
    return place
  }
  after(() => Promise.all([...places.keys()].map((db) => db.close())))
  return {
    engine,
    open: async (options = {}) => openAt(await newPlace(options.migrated ?? true), options),
    openAgain: (db, options = {}) => openAt(placeOf(db), options),
    placeOf,
  }
}

let sqliteTemplate: Promise<string> | undefined

async function sqlitePlace(migrated: boolean): Promise<Place> {
  const dataDir = tempDir()
  if (migrated) {
    sqliteTemplate ??= migratedDirectory()
    cpSync(await sqliteTemplate, dataDir, { recursive: true })
  }
  return { dataDir, databaseUrl: null }
}

async function migratedDirectory(): Promise<string> {
  const dataDir = tempDir()
  const options = { clock: new SystemClock(), log: silentLogger() }
  const db = await openDatabase({ dataDir, ...options })
  await migrate(db, options)
  await db.close()
  return dataDir
}

/** A test may close what the suite closes again. */
function closingOnce(db: Database): Database {
  const close = db.close.bind(db)
  let closed: Promise<void> | undefined
  db.close = () => {
    closed ??= close()
    return closed
  }
  return db
}
