import type { Principal } from '../../platform/auth/principal.ts'
import { type Clock, sleep } from '../../platform/clock/clock.ts'
import { ignoreFailure } from '../../platform/errors/ignore-failure.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import { ProjectInside } from '../project/project-inside.ts'
import type { Semantic } from '../semantic/semantic.ts'

export interface ReindexDeps {
  db: Database
  clock: Clock
  /** Asked when there is something to embed, which shows that storage takes changes; its sync has to run from then on. */
  semantic(): Semantic | null
  onProgress(step: 'reading notes' | 'embedding notes', done: number, total: number): void
}

type ReindexedProject = Pick<Project, 'id' | 'externalId'> & { noteCount: number }

const LOOK_EVERY_MS = 200

/** Reads all texts of a project anew and embeds them anew, while the caller waits. What is there answers meanwhile. */
export async function reindexNow(
  deps: ReindexDeps,
  principal: Principal,
  project: ReindexedProject,
): Promise<{ notes: number; chunks: number }> {
  const { onProgress } = deps
  const { notes } = await new ProjectInside(deps).index(principal, {
    pathId: project.externalId,
    inBackground: false,
    onProgress: (done) => onProgress('reading notes', done, project.noteCount),
  })
  const semantic = deps.semantic()
  if (semantic === null) return { notes, chunks: 0 }
  await semantic.sync.reindex(project)
  await embedAll(deps, semantic, project, notes)
  return { notes, chunks: (await semantic.sync.status(project)).chunks }
}

async function embedAll(
  { clock, onProgress }: ReindexDeps,
  { sync }: Semantic,
  project: ReindexedProject,
  total: number,
): Promise<void> {
  const over = new AbortController()
  const embedding = sync.caughtUp(project.id).finally(() => over.abort())
  ignoreFailure(embedding, 'awaited at the end')
  while (!over.signal.aborted) {
    const { pending } = await sync.status(project)
    onProgress('embedding notes', Math.max(0, total - pending), total)
    await sleep(clock, LOOK_EVERY_MS, over.signal).catch(() => {})
  }
  await embedding
  onProgress('embedding notes', total, total)
}
