import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { StreamSlots } from '../../platform/http/answer/stream-slots.ts'
import type { Waiting } from '../../platform/http/entry/waiting-of.ts'
import { enqueueJob } from '../../platform/jobs/enqueue.ts'
import { findOpenJob } from '../../platform/jobs/store-open-job.ts'
import type { Database } from '../../platform/storage/database.ts'
import { countingSlots } from '../snapshot/snapshot-slots.ts'
import { firstIndexWork, INDEX_PROJECT, indexNow } from './index-project.ts'
import { requireProjectDetails } from './look-up.ts'
import type { ListedProject, ProjectDetails } from './project.ts'
import { type ProjectFacts, projectFacts } from './project-facts.ts'
import { audit, counted } from './project-service.ts'
import { allProjects } from './store-projects.ts'

export interface IndexState {
  state: 'waiting' | 'running'
  done: number
}

export interface IndexRequest {
  pathId: string
  inBackground: boolean
  /** How many notes were read so far, where the caller waits for it. */
  onProgress?(notes: number): void
}

/** What a project holds, and reading it anew. */
export class ProjectInside {
  readonly #db: Database
  readonly #clock: Clock
  readonly #counting: StreamSlots

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
    this.#counting = countingSlots(db, clock)
  }

  /** Waits for its turn. `all` are the projects there are, this one among them. */
  async facts(
    pathId: string,
    { gone, judgeAgain }: Waiting,
  ): Promise<{ project: ProjectDetails; all: ProjectDetails[]; facts: ProjectFacts }> {
    const leave = await this.#counting.enter(gone)
    try {
      await judgeAgain()
      return await this.#db.read(
        async (snapshot) => {
          const project = await requireProjectDetails(snapshot, pathId)
          const facts = await projectFacts(snapshot, project.id, this.#clock.now(), gone)
          return { project, all: await allProjects(snapshot), facts }
        },
        { isLong: true },
      )
    } finally {
      leave()
    }
  }

  status(pathId: string): Promise<{ project: ListedProject; index: IndexState | null }> {
    return this.#db.read(async (snapshot) => {
      const project = await counted(snapshot, await requireProjectDetails(snapshot, pathId))
      const job = await findOpenJob(snapshot, INDEX_PROJECT, indexKey(project))
      const index = job && { state: job.state, done: job.payload.done }
      return { project, index: index ?? null }
    })
  }

  /** Asks for everything that is read out of texts to be read anew, by a job or now. */
  async index(
    principal: Principal,
    { pathId, inBackground, onProgress }: IndexRequest,
    client?: ClientInfo,
  ): Promise<{ notes: number }> {
    const project = await this.#db.write(async (tx) => {
      const project = await counted(tx, await requireProjectDetails(tx, pathId))
      await audit(tx, principal, project, { action: 'project.index_requested' }, client)
      if (inBackground) {
        const request = { kind: INDEX_PROJECT, key: indexKey(project), payload: firstIndexWork(project) }
        await enqueueJob(tx, request, this.#clock.now())
      }
      return project
    })
    if (inBackground) return { notes: project.noteCount }
    return { notes: await indexNow({ db: this.#db, clock: this.#clock }, firstIndexWork(project), onProgress) }
  }
}

function indexKey({ id }: Pick<ListedProject, 'id'>): string {
  return String(id)
}
