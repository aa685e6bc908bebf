import type { KnowledgeDeps } from '../deps.ts'
import { INDEX_PROJECT, runIndexJob } from './index-project.ts'
import { PURGE_PROJECT, purgeProject } from './purge-project.ts'

/** The background work of projects. To be called once, before the engine starts. */
export function projectJobs(deps: Pick<KnowledgeDeps, 'db' | 'clock' | 'jobs'>): void {
  const { db, jobs } = deps
  jobs.register(INDEX_PROJECT, (job, context) => runIndexJob(deps, job, context))
  jobs.register(PURGE_PROJECT, ({ payload }, { signal }) => purgeProject({ db, signal }, payload))
}
