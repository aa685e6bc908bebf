import { Command, InvalidArgumentError, Option } from 'commander'
import { toRfc3339, toRfc3339OrNull } from '../platform/clock/clock.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { parseId } from '../platform/ids/uuid.ts'
import type { JobId } from '../platform/jobs/job-kind.ts'
import type { JobRow, JobState } from '../platform/jobs/store.ts'
import { discardJob, listJobs, requeueJob, requeueKind } from '../platform/jobs/store-dead-letters.ts'
import { printJson } from './print-json.ts'
import { printTable } from './print-table.ts'
import { withStorageFlags } from './settings-options.ts'
import { withDatabase } from './with-database.ts'

export function jobCommand(): Command {
  return new Command('job')
    .description("look at the server's background jobs, and decide about those it has given up")
    .addCommand(listCommand())
    .addCommand(requeueCommand())
    .addCommand(discardCommand())
}

interface ListOptions {
  state?: JobState
  kind?: string
  limit: number
  after?: JobId
  json?: boolean
}

function listCommand(): Command {
  return withStorageFlags(new Command('list'))
    .description('list jobs, oldest first')
    .addOption(new Option('--state <state>', 'only those in this state').choices(['waiting', 'running', 'dead']))
    .option('--kind <kind>', 'only those of this kind')
    .option('--limit <number>', 'at most this many, up to 1000', parseLimit, 100)
    .option('--after <id>', 'those after this one', parseJobId)
    .option('--json', 'answer as JSON')
    .action(async (options: ListOptions, command: Command) => {
      const { state, kind, limit, after } = options
      await withDatabase(command, async ({ db }) => {
        const jobs = await listJobs(db, { state, kind, limit, after })
        if (options.json) return printJson(jobs.map(describe))
        printTable(
          ['STATE', 'KIND', 'KEY', 'ATTEMPT', 'DUE', 'ID', 'LAST ERROR'],
          jobs.map((job) => {
            const one = describe(job)
            const error = (one.last_error ?? '').slice(0, 80)
            return [one.state, one.kind, one.key ?? '-', String(one.attempt), one.due_at, one.id, error]
          }),
        )
        if (jobs.length === limit) process.stderr.write(`there may be more: add --after ${jobs.at(-1)?.id}\n`)
      })
    })
}

interface RequeueOptions {
  all?: boolean
  kind?: string
  json?: boolean
}

function requeueCommand(): Command {
  return withStorageFlags(new Command('requeue'))
    .description('give dead jobs all their tries again: one by its id, or all of a kind')
    .argument('[id]', 'a dead job, as "job list --state dead" shows it', parseJobId)
    .option('--all', 'all dead jobs of the kind given by --kind')
    .option('--kind <kind>', 'the kind for --all')
    .option('--json', 'answer as JSON')
    .action(async (id: JobId | undefined, options: RequeueOptions, command: Command) => {
      const { all = false, kind } = options
      if ((id === undefined) !== all || (all && kind === undefined)) {
        command.error('error: give either the id of a dead job, or --all with --kind <kind>', { exitCode: 2 })
      }
      await withDatabase(command, async ({ db, clock }) => {
        if (id === undefined) {
          const requeued = await requeueKind(db, kind as string, () => clock.now())
          return options.json ? printJson({ requeued }) : console.log(`requeued ${requeued}`)
        }
        const outcome = await db.write((tx) => requeueJob(tx, id, clock.now()))
        if (outcome === 'not_dead')
          throw new AppError('not_found', `There is no dead job ${id}: see "job list --state dead"`)
        if (options.json) return printJson({ id, outcome })
        console.log(outcome === 'requeued' ? `requeued ${id}` : `${id} became part of a waiting job of the same key`)
      })
    })
}

function discardCommand(): Command {
  return withStorageFlags(new Command('discard'))
    .description('forget a dead or waiting job for good; what recurs is planned anew by the next start of a server')
    .argument('<id>', 'its id, as "job list" shows it', parseJobId)
    .option('--json', 'answer as JSON')
    .action(async (id: JobId, options: { json?: boolean }, command: Command) => {
      await withDatabase(command, async ({ db }) => {
        const discarded = await db.write((tx) => discardJob(tx, id))
        if (!discarded) throw new AppError('not_found', `There is no dead or waiting job ${id}: see "job list"`)
        return options.json ? printJson({ id, discarded }) : console.log(`discarded ${id}`)
      })
    })
}

// The payload stays out: it may name persons, and this output ends in tickets and chats.
function describe(job: JobRow) {
  return {
    id: job.id,
    kind: job.kind,
    key: job.coalesce_key,
    state: job.state,
    attempt: job.attempt,
    due_at: toRfc3339(job.due_at),
    leased_until: toRfc3339OrNull(job.lease_until),
    last_error: job.last_error,
    created_at: toRfc3339(job.created_at),
  }
}

function parseJobId(text: string): JobId {
  const id = parseId<'Job'>(text.trim())
  if (id === undefined)
    throw new InvalidArgumentError('Give the id of a job, such as 0198c0de-0000-7000-8000-000000000000.')
  return id
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > 1_000) throw new InvalidArgumentError('Give a number from 1 to 1000.')
  return limit
}
