import type { Worker } from '../../../platform/supervisor/supervisor.ts'
import type { Project } from '../../note/note.ts'

/** The words of all notes. */
export interface SearchIndex extends Worker {
  /**
   * Settles when everything that was written before the call, in this project or in any, is found. To be awaited before any question is
   * put to the table `note_search`. `unavailable` when that takes too long.
   */
  caughtUp(project?: Pick<Project, 'id'>): Promise<void>
  /** The same for whoever would rather hear of less than of nothing, and says so. */
  catchUp(project?: Pick<Project, 'id'>): Promise<CaughtUp>
  /** Whether that is so already, for whoever need not wait. */
  isCurrent(project: Pick<Project, 'id'>): Promise<boolean>
}

/** `behind`: the index cannot be written right now, as on a full disk, and lacks the latest changes. */
export type CaughtUp = 'current' | 'behind'
