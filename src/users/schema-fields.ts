/** Members that the bodies and queries of several operations share. */
import { Type } from 'typebox'
import { type Id, parseId } from '../platform/ids/uuid.ts'
import { LONGEST_LABEL, labelProblem } from './label.ts'
import { DEFAULT_PAGE_SIZE } from './page.ts'

/** A name that must be there; whoever reads it trims it. */
export function label(description: string) {
  return Type.Refine(
    Type.String({ description: `${description} At most ${LONGEST_LABEL} characters.`, documented: { minLength: 1 } }),
    (text) => labelProblem(text) === undefined,
    (text) => labelProblem(text) ?? '',
  )
}

// What no password, code or token of ours comes near: longer ones are refused before any work.
export const LONGEST_SECRET = 4_096

export function secretText(description: string) {
  return Type.String({ maxLength: LONGEST_SECRET, description })
}

/** What is sent to make something, or to do something once. */
export function bodyOf<const Name extends string, Attributes extends Type.TProperties>(
  type: Name,
  attributes: Attributes,
) {
  return Type.Object({ data: Type.Object({ type: Type.Literal(type), attributes: Type.Object(attributes) }) })
}

export const pageFields = {
  'page[size]': Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: DEFAULT_PAGE_SIZE, description: 'How many a page has.' }),
  ),
  'page[number]': Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'Which page, from 0.' })),
}

/** One of the fields; a leading `-` turns the order round. The first is the default. */
export function sortField<const Fields extends readonly [string, ...string[]]>(fields: Fields) {
  const values = fields.flatMap((field) => [field, `-${field}`]) as (Fields[number] | `-${Fields[number]}`)[]
  return Type.Optional(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { default: fields[0], description: 'A leading "-" means descending.' },
    ),
  )
}

export const filterField = Type.Optional(
  Type.String({ description: 'Part of the name, in upper or lower case. Blanks around it are ignored.' }),
)

/**
 * Ids out of a text in which commas separate them, each once. What is no id matches nothing, as an unknown one does; so a
 * list with nothing between its commas finds nothing, while an empty text is no filter.
 */
export function idList<Kind extends string>(text: string | undefined): Id<Kind>[] | undefined {
  if (!text?.trim()) return undefined
  return [...new Set(text.split(',').flatMap((id) => parseId<Kind>(id.trim()) ?? []))]
}
