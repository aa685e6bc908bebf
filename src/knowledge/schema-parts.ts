import { Type } from 'typebox'

type Schema = Parameters<typeof Type.Optional>[0]

export const nullable = <T extends Schema>(schema: T) => Type.Union([schema, Type.Null()])

/** Null is the same as nothing. */
export const optional = <T extends Schema>(schema: T) => Type.Optional(nullable(schema))

/** What a search or a context answers with; a note is an `entity` on the wire. */
export const ItemType = Type.Union([Type.Literal('entity'), Type.Literal('observation'), Type.Literal('relation')])
