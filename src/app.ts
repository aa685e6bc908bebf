/**
 * The composition root: settings -> storage -> platform -> features -> listeners. Everything that lives as long as the
 * server is made here, and ends here in the opposite order.
 */
import { registerCallbacks } from './callbacks/index.ts'
import { firstStart } from './first-start.ts'
import { LogInRecorder, registerInstance } from './instance/index.ts'
import {
  countCreatedNotes,
  countNotes,
  MAX_CONTENT,
  notesOf,
  openSearchIndex,
  openSemantic,
  registerKnowledge,
} from './knowledge/index.ts'
import { DenialRecorder } from './platform/audit/denials.ts'
import { scheduleAuditRetention } from './platform/audit/retention.ts'
import { DatabaseAuthenticator } from './platform/auth/authenticator.ts'
import { IdentityChanges } from './platform/auth/identity-changes.ts'
import { type Clock, SystemClock, settlesWithin } from './platform/clock/clock.ts'
import { AppError } from './platform/errors/app-error.ts'
import { hostAndPort } from './platform/http/connection/host-and-port.ts'
import { closeGracefully, listen } from './platform/http/connection/listen.ts'
import { createHttpServer } from './platform/http/server.ts'
import { SURFACES } from './platform/http/surface.ts'
import { Idempotency } from './platform/idempotency/idempotency.ts'
import { JobEngine } from './platform/jobs/job-engine.ts'
import { observeJobs } from './platform/jobs/metrics.ts'
import { type Logger, named } from './platform/logging/logger.ts'
import { createFetchJson } from './platform/outbound/fetch-json.ts'
import { createIpFilter } from './platform/outbound/ip-filter.ts'
import { OutboundThread } from './platform/outbound/outbound-thread.ts'
import { PersonalData } from './platform/personal-data/personal-data.ts'
import { RateLimiter } from './platform/rate-limit/rate-limiter.ts'
import { Readiness } from './platform/readiness/readiness.ts'
import { createRpc } from './platform/rpc/create-rpc.ts'
import { listenGrpc } from './platform/rpc/listen-grpc.ts'
import { observeCalls } from './platform/rpc/observe-calls.ts'
import { registerRpc } from './platform/rpc/register-rpc.ts'
import type { RpcService } from './platform/rpc/rpc-service.ts'
import { openCipher } from './platform/secrets/open-cipher.ts'
import { lockDataDirectory } from './platform/storage/data-lock.ts'
import type { Database } from './platform/storage/database.ts'
import { databaseTime } from './platform/storage/database-time.ts'
import { migrate, schemaVersion } from './platform/storage/migrate.ts'
import { openDatabase } from './platform/storage/open.ts'
import { refuseReadOnly } from './platform/storage/postgres-rights.ts'
import { Supervisor } from './platform/supervisor/supervisor.ts'
import { listenMetrics } from './platform/telemetry/listen-metrics.ts'
import { createMetrics, type Metrics } from './platform/telemetry/metrics.ts'
import { changedSections, type LoadedSettings, type Settings } from './settings.ts'
import { countRegistrations, countUsers, LONGEST_LABEL, mintSetupLink, registerUsers } from './users/index.ts'
import { VERSION } from './version.ts'

const CLOSE_MS = 3_000
const LEFT_BEHIND =
  'the clock of this machine was set back by more than a minute, which this server does not follow: restart it'
// A translation service is named by the operator and often stands beside this server.
const EVERYWHERE = createIpFilter(['0.0.0.0/0', '::/0'])

export interface AppOptions {
  settings: Settings
  /** Who set each of them, by path; nobody in particular when absent. */
  sources?: LoadedSettings['sources']
  mode: 'dev' | 'serve'
  log: Logger
  clock: Clock
}

export interface App extends AsyncDisposable {
  /** `http://HOST:PORT` as it really listens. */
  readonly url: string
  /** `HOST:PORT`, of IPv6 `[HOST]:PORT`. */
  readonly grpcAddress: string
  /** A secret for the terminal: where the first administrator chooses a password. In `serve`, until that was done, where people sign in so. */
  readonly setupLink: string | null
  /**
   * The settings were read again. Those of the instance hold at once; answers the other sections that differ from what the
   * server runs with, which hold after a restart.
   */
  reload(loaded: Pick<LoadedSettings, 'settings' | 'sources'>): Promise<string[]>
  /** Finishes what is in flight. False when something had to be cut off at `server.shutdown_timeout`. */
  stop(): Promise<boolean>
}

export async function startApp(options: AppOptions): Promise<App> {
  const { settings, mode, clock } = options
  await using starting = new AsyncDisposableStack()
  const platform = await openPlatform(options, starting)
  const { db, server, readiness, time, jobs, workers, background } = platform
  const { searchIndex, semantic, instance, callbacks } = await registerFeatures(options, platform, starting)
  const { main, grpc } = await openPorts(options, platform, callbacks.rpcServices, starting)

  const graceMs = settings.server.shutdown_timeout
  // Behind the ports: a start that fails on one of them must not have delivered or changed anything before.
  workers.start([time, readiness, searchIndex].filter((worker) => worker != null))
  background.start([jobs, semantic?.sync, callbacks.dispatcher].filter((worker) => worker != null))
  const stopWorkers = () => Promise.all([workers.stop(graceMs), background.stop(graceMs)])
  // A start that fails from here on stops its workers before it closes the database under them.
  starting.defer(async () => void (await stopWorkers()))

  // Not on the first start alone: that one may have failed before it could say it, on a port in use for instance.
  const hasPasswords = mode === 'serve' && settings.users.login_methods.includes('password')
  const setupLink = hasPasswords ? await mintSetupLink(db, clock, server.platform.origin()) : null

  const running = starting.move()
  let stopped: Promise<boolean> | undefined

  function stopOnce(): Promise<boolean> {
    stopped ??= stop()
    return stopped
  }

  async function stop(): Promise<boolean> {
    readiness.stop()
    const requests = [closeGracefully(server, clock, graceMs), grpc.close(graceMs)]
    const [finished] = await Promise.all([Promise.all(requests), stopWorkers()])
    // Storage that does not answer must not hold the process; what it would still be told is of no consequence.
    await settlesWithin(clock, CLOSE_MS, running.disposeAsync())
    return finished.every(Boolean)
  }

  async function reload(loaded: Pick<LoadedSettings, 'settings' | 'sources'>): Promise<string[]> {
    await instance.settings.replaceGiven({ settings: loaded.settings.instance, sources: loaded.sources })
    return changedSections(settings, loaded.settings).filter((section) => section !== 'instance')
  }

  return {
    url: main.url,
    grpcAddress: hostAndPort(grpc.host, grpc.port),
    setupLink,
    reload,
    stop: stopOnce,
    [Symbol.asyncDispose]: async () => void (await stopOnce()),
  }
}

/** What all features stand on. */
async function openPlatform(options: AppOptions, starting: AsyncDisposableStack) {
  const { settings, mode, log, clock } = options
  const db = starting.use(await prepareStorage(options, starting))
  const time = databaseTime(db, clock, named(log, 'clock'))
  await time?.begin()
  if (clock instanceof SystemClock) clock.onLeftBehind = () => named(log, 'clock').error(LEFT_BEHIND)
  await firstStart({ db, clock, log: named(log, 'start'), settings, mode })
  const cipher = await openCipher({ db, clock, encryptionKey: settings.auth.encryption_key })

  const metrics = createMetrics()
  const workers = new Supervisor({ clock, log: named(log, 'workers') })
  const background = new Supervisor({ clock, log: named(log, 'workers') })
  const readiness = new Readiness({
    db,
    clock,
    log: named(log, 'storage'),
    // What it would do might be wrong by now; processes of the newer version do it instead.
    onOutdated: () => void background.stop(settings.server.shutdown_timeout),
  })
  const jobs = createJobs(options, db, metrics)
  const changes = starting.adopt(new IdentityChanges(db), (it) => it.close())
  const logIns = new LogInRecorder({ db, log: named(log, 'log-ins') })
  const authenticator = starting.adopt(
    new DatabaseAuthenticator({
      db,
      clock,
      log: named(log, 'auth'),
      changes,
      mode,
      sessionIdleMs: settings.users.session_idle,
      sessionMaxMs: settings.users.session_max,
      requireMfa: settings.users.require_mfa,
      onAccepted: (principal, now) => logIns.record(principal, now),
    }),
    (it) => it.close(),
  )
  const denials = new DenialRecorder({ db, clock, log: named(log, 'audit') })
  const idempotency = new Idempotency({ db, clock })
  idempotency.schedulePurge(jobs)
  if (db.engine === 'sqlite') await idempotency.releaseAll()
  const server = await createHttpServer({
    settings: settings.server,
    mode,
    version: VERSION,
    log,
    clock,
    metrics,
    authenticator,
    rateLimiter: new RateLimiter({ buckets: settings.users.rate_limits, clock, log: named(log, 'rate'), db }),
    readiness: () => readiness.check(),
    accessLog: settings.telemetry.access_log,
    idempotency,
    onDenied: (denial) => denials.record(denial),
  })
  const outbound = starting.adopt(new OutboundThread({ clock, log: named(log, 'outbound') }), (it) => it.close())
  const identity = { changes, logIns, authenticator, denials }
  return { db, time, cipher, metrics, workers, background, readiness, jobs, ...identity, server, outbound }
}

type Platform = Awaited<ReturnType<typeof openPlatform>>

/** The four surfaces, and what each of them is handed of the others. */
async function registerFeatures(options: AppOptions, platform: Platform, starting: AsyncDisposableStack) {
  const { settings, mode, log, clock } = options
  const { db, jobs, cipher, changes, logIns, metrics, outbound, server } = platform
  const personalData = new PersonalData()
  const shared = { db, clock, jobs, personalData, baseUrl: () => server.platform.origin() }
  registerUsers(server, {
    ...shared,
    log: named(log, 'users'),
    mode,
    settings: settings.users,
    dataDir: settings.storage.data_dir,
    changes,
    cipher,
    onSignedIn: (userId, now) => logIns.recordUser(userId, now),
  })
  const searchIndex = openSearchIndex({ db, clock, log: named(log, 'search') })
  const semantic = starting.use(
    openSemantic({ db, clock, log: named(log, 'semantic'), settings: settings.knowledge, outbound, isServer: true }),
  )
  registerKnowledge(server, {
    ...shared,
    log: named(log, 'knowledge'),
    settings: settings.knowledge,
    searchIndex,
    semantic,
  })
  const instance = registerInstance(server, {
    ...shared,
    log: named(log, 'instance'),
    settings: settings.instance,
    sources: options.sources ?? new Map(),
    cipher,
    identityChanges: changes,
    users: { countUsers, countRegistrations },
    notes: { countNotes, countCreatedNotes, notesOf },
    logIns,
    limits: { noteCharacters: MAX_CONTENT, nameCharacters: LONGEST_LABEL, titleCharacters: LONGEST_LABEL },
    fetchJson: createFetchJson(outbound, EVERYWHERE),
  })
  await instance.load()
  const callbacks = registerCallbacks(server, {
    db,
    clock,
    log: named(log, 'callbacks'),
    settings: settings.callbacks,
    jobs,
    metrics,
    cipher,
    outbound,
    domains: instance.domainRules,
  })
  starting.use(callbacks)
  return { searchIndex, semantic, instance, callbacks }
}

async function openPorts(
  { settings, log, clock }: AppOptions,
  { server, metrics, authenticator, readiness, denials }: Platform,
  services: readonly RpcService[],
  starting: AsyncDisposableStack,
) {
  const rpc = createRpc({
    authenticator,
    clock,
    log,
    readiness,
    serverInfo: { version: VERSION, surfaces: SURFACES.filter((surface) => surface !== 'platform') },
    services,
    serverOrigin: () => server.platform.origin(),
    bodyMemory: server.platform.bodyMemory,
    limits: { requestTimeoutMs: settings.server.request_timeout, requestBytes: settings.server.body_limit },
    onDenied: (denial) => denials.record(denial),
    observe: observeCalls(metrics.registry),
  })
  await registerRpc(server, rpc, server.platform.paths)
  const { host, port, grpc_port: grpcPort, metrics_port: metricsPort } = settings.server
  if (metricsPort !== null) starting.use(await listenMetrics(metrics, { host, port: metricsPort, log }))
  const main = await listen(server, host, port)
  starting.defer(async () => void (await closeGracefully(server, clock, 0)))
  const grpc = await listenGrpc(rpc, {
    host,
    port: grpcPort,
    trustedProxies: settings.server.trusted_proxies,
    maxConnections: settings.server.max_connections || Number.POSITIVE_INFINITY,
  })
  starting.defer(async () => void (await grpc.close(0)))
  return { main, grpc }
}

async function prepareStorage({ settings, log, clock }: AppOptions, starting: AsyncDisposableStack): Promise<Database> {
  const {
    data_dir: dataDir,
    database_url: databaseUrl,
    pool_size: poolSize,
    auto_migrate: autoMigrate,
  } = settings.storage
  // Several servers may share one PostgreSQL; a SQLite file belongs to one.
  if (databaseUrl === null) starting.adopt(lockDataDirectory(dataDir), (lock) => lock.release())
  const db = await openDatabase({ databaseUrl, dataDir, poolSize, clock, log: named(log, 'storage') })
  try {
    await refuseReadOnly(db)
    if (autoMigrate) await migrate(db, { clock, log: named(log, 'storage') })
    else await refusePending(db)
  } catch (error) {
    await db.close()
    throw error
  }
  return db
}

async function refusePending(db: Database): Promise<void> {
  const { pending } = await schemaVersion(db)
  if (pending.length === 0) return
  throw new AppError(
    'failed_precondition',
    'The database schema is older than this version and storage.auto_migrate is off: run "commonplace migrate"',
  )
}

function createJobs({ settings, log, clock }: AppOptions, db: Database, metrics: Metrics): JobEngine {
  const jobMetrics = observeJobs(metrics.registry, clock)
  const jobs = new JobEngine({
    db,
    clock,
    log: named(log, 'jobs'),
    alone: db.engine === 'sqlite',
    onOutcome: jobMetrics.onOutcome,
  })
  jobMetrics.watch(() => jobs.statistics())
  scheduleAuditRetention(jobs, { db, clock, retentionMs: settings.users.audit_retention })
  return jobs
}
