import { type Static, Type } from 'typebox'

const LONGEST = 500

export const ResolveBody = Type.Object({
  identifier: Type.String({
    minLength: 1,
    maxLength: LONGEST,
    description: 'An external id, a permalink, a title, a path, an alias, or a link as it stands in a note.',
  }),
  source_path: Type.Optional(
    Type.Union([
      Type.String({ maxLength: LONGEST, description: 'Path of the note in which the link stands: nearer notes win.' }),
      Type.Null(),
    ]),
  ),
  strict: Type.Optional(
    Type.Boolean({ default: false, description: 'Only exact names; several notes with one title are an error.' }),
  ),
})

const resolved = {
  external_id: Type.String(),
  entity_id: Type.Integer(),
  permalink: Type.Union([Type.String(), Type.Null()]),
  file_path: Type.String(),
  title: Type.String(),
  resolution_method: Type.Union(
    (['external_id', 'permalink', 'title', 'path', 'search'] as const).map((method) => Type.Literal(method)),
  ),
}

export const ResolveAnswer = Type.Object({ ...resolved, project_external_id: Type.String() })
export const LinkAnswer = Type.Object({ ...resolved, target_project_external_id: Type.String() })

export type ResolveInput = Static<typeof ResolveBody>
