import { Type } from 'typebox'
import { nullable } from '../platform/http/input/nullable.ts'

/** Null is the same as nothing. */
export const optional = <T extends Parameters<typeof nullable>[0]>(schema: T) => Type.Optional(nullable(schema))

/** What a search or a context answers with; a note is an `entity` on the wire. */
export const ItemType = Type.Union([Type.Literal('entity'), Type.Literal('observation'), Type.Literal('relation')])
