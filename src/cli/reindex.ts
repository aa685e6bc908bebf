import { Command } from 'commander'
import { openSemantic, ProjectService, reindexNow, resolveProject, type Semantic } from '../knowledge/index.ts'
import { OutboundClient } from '../platform/outbound/outbound-client.ts'
import { Supervisor } from '../platform/supervisor/supervisor.ts'
import { findOperator } from '../users/index.ts'
import { printJson } from './print-json.ts'
import { Progress } from './progress.ts'
import { withStorageFlags } from './settings-options.ts'
import { untilInterrupted } from './until-interrupted.ts'
import { type CliContext, withDatabase } from './with-database.ts'

const STOP_MS = 5_000
// Half of it for what is being embedded.
const INTERRUPT_MS = 2_000

export function reindexCommand(): Command {
  return withStorageFlags(new Command('reindex'))
    .description('make the search index anew, words and vectors; searches go on meanwhile')
    .argument('[project]', 'id, permalink or name of the project; all of them unless given')
    .option('--json', 'answer as JSON')
    .addHelpText(
      'after',
      '\nVectors are made with the model of the settings: give it the settings file and the variables of the server.',
    )
    .action((text: string | undefined, options: { json?: boolean }, command: Command) =>
      withDatabase(command, (context) =>
        withSemantic(context, (semantic) => reindex(context, semantic, text, options.json === true)),
      ),
    )
}

async function reindex(
  { db, clock }: CliContext,
  semantic: () => Semantic | null,
  text: string | undefined,
  isJson: boolean,
): Promise<void> {
  const principal = await findOperator(db)
  const all = await new ProjectService({ db, clock }).list()
  const named = text === undefined ? null : (await resolveProject(db, text)).project
  const done = []
  for (const project of named === null ? all : all.filter(({ id }) => id === named.id)) {
    const progress = new Progress(clock)
    const { notes, chunks } = await reindexNow(
      {
        db,
        clock,
        semantic,
        onProgress(step, count, total) {
          if (total > 0) progress.report(`${project.name}: ${step}`, count, total)
        },
      },
      principal,
      project,
    ).finally(() => progress.end())
    done.push({ id: project.externalId, name: project.name, notes, chunks })
    if (!isJson) console.log(`indexed ${project.name}: ${counted(notes, 'note')}, ${counted(chunks, 'vector')}`)
  }
  if (isJson) printJson(done)
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`
}

/** Embeds in this process, beside a server if there is one: one of them has a project at a time, the other waits for it. */
async function withSemantic(
  { db, clock, log, settings }: CliContext,
  work: (semantic: () => Semantic | null) => Promise<void>,
): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const outbound = opened.adopt(new OutboundClient({ clock }), (it) => it.close())
  const semantic = openSemantic({ db, clock, log, settings: settings.knowledge, outbound, isServer: false })
  if (semantic === null) return work(() => null)
  opened.use(semantic)
  const supervisor = new Supervisor({ clock, log })
  opened.defer(() => supervisor.stop(STOP_MS))
  let isRunning = false
  const running = () => {
    if (!isRunning) supervisor.start([semantic.sync])
    isRunning = true
    return semantic
  }
  // A project that is not given back stays without vectors of anybody else for a minute.
  await untilInterrupted(work(running), () => supervisor.stop(INTERRUPT_MS))
}
