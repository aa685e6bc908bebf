import type { Micros } from '../../platform/clock/clock.ts'
import type { Project } from '../note/note.ts'

/** A project with all that is shown of it. */
export interface ProjectDetails extends Project {
  nameFolded: string
  path: string
  isDefault: boolean
  isActive: boolean
  createdAt: Micros
  modifiedAt: Micros
}

/** What a change of a project may be about; what is absent stays. */
export interface ProjectUpdate {
  name?: string
  path?: string
  isActive?: boolean
}

/** As it is answered: with its kept count of notes. */
export type ListedProject = ProjectDetails & { noteCount: number }
