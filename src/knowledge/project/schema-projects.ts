/** What the operations on projects take and answer. */
import { type Static, Type } from 'typebox'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { nullable } from '../../platform/http/input/nullable.ts'
import type { ResolutionMethod } from './look-up.ts'
import type { ListedProject, ProjectDetails } from './project.ts'
import { LONGEST_NAME, nameProblem } from './project-name.ts'
import { LONGEST_PATH } from './project-path.ts'
import type { ProjectChange } from './project-service.ts'

export const ProjectPath = Type.Object({
  project_id: Type.String({ description: 'External id of the project, in any case, with or without hyphens.' }),
})

const ProjectNameField = Type.Refine(
  Type.String({
    description: `1 to ${LONGEST_NAME} characters; unique, whatever the case.`,
    documented: { minLength: 1 },
  }),
  (text) => nameProblem(text) === undefined,
  (text) => nameProblem(text) ?? '',
)

const PathField = Type.String({
  description: 'Only recorded. No two projects have the same one or one inside the other.',
  maxLength: LONGEST_PATH,
  documented: { minLength: 1 },
})

export const ProjectCreateBody = Type.Object({
  name: ProjectNameField,
  path: Type.Optional(nullable(PathField)),
  set_default: Type.Optional(Type.Boolean({ default: false })),
})

export const ProjectUpdateBody = Type.Object({
  name: Type.Optional(nullable(ProjectNameField)),
  path: Type.Optional(nullable(PathField)),
  is_active: Type.Optional(nullable(Type.Boolean())),
})

export const ProjectDeleteQuery = Type.Object({
  delete_notes: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Take the notes away at once. Otherwise the project can be restored for thirty days.',
    }),
  ),
})

export const ProjectRestoreBody = Type.Object({
  name: Type.Optional(nullable(ProjectNameField)),
})

export const ProjectItem = Type.Object(
  {
    id: Type.Integer(),
    external_id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    path: Type.String(),
    is_default: Type.Boolean(),
    display_name: Type.Null(),
    is_private: Type.Literal(false),
    permalink: Type.String({ description: 'What the permalinks of its notes begin with.' }),
    is_active: Type.Boolean(),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
    note_count: Type.Integer(),
  },
  { $id: 'ProjectItem' },
)

export const ProjectList = Type.Object({
  projects: Type.Array(ProjectItem),
  default_project: nullable(Type.String({ description: 'Its name.' })),
})

export const ProjectStatus = Type.Object({
  message: Type.String(),
  status: Type.Literal('success'),
  default: Type.Boolean({ description: 'Whether the project is the default one now.' }),
  old_project: nullable(ProjectItem),
  new_project: nullable(ProjectItem),
})

export const ProjectDeletion = Type.Object({
  ...ProjectStatus.properties,
  deletion_status: Type.Literal('complete', { description: 'The project is invisible by now.' }),
  file_delete_status: Type.Union([Type.Literal('pending'), Type.Literal('skipped')], {
    description: 'Whether its notes are being taken away for good, or are kept for thirty days.',
  }),
})

export const ProjectResolveBody = Type.Object({
  identifier: Type.String({ minLength: 1, maxLength: 255, description: 'External id, permalink or name.' }),
})

export const ResolvedProject = Type.Object({
  external_id: Type.String({ format: 'uuid' }),
  project_id: Type.Integer(),
  name: Type.String(),
  permalink: Type.String(),
  path: Type.String(),
  is_active: Type.Boolean(),
  is_default: Type.Boolean(),
  resolution_method: Type.Union([Type.Literal('external_id'), Type.Literal('name'), Type.Literal('permalink')]),
})

export function toItem(project: ListedProject): Static<typeof ProjectItem> {
  return {
    id: project.id,
    external_id: project.externalId,
    name: project.name,
    path: project.path,
    is_default: project.isDefault,
    display_name: null,
    is_private: false,
    permalink: project.permalink,
    is_active: project.isActive,
    created_at: toRfc3339(project.createdAt),
    updated_at: toRfc3339(project.modifiedAt),
    note_count: project.noteCount,
  }
}

export function toStatus({ before, after }: ProjectChange, message: string): Static<typeof ProjectStatus> {
  return {
    message,
    status: 'success',
    default: after?.isDefault ?? false,
    old_project: before && toItem(before),
    new_project: after && toItem(after),
  }
}

export function toResolved(project: ProjectDetails, method: ResolutionMethod): Static<typeof ResolvedProject> {
  return {
    external_id: project.externalId,
    project_id: project.id,
    name: project.name,
    permalink: project.permalink,
    path: project.path,
    is_active: project.isActive,
    is_default: project.isDefault,
    resolution_method: method,
  }
}
