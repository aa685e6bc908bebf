import { Type } from 'typebox'

type Schema = Parameters<typeof Type.Union>[0][number]

/** The same, or null. */
export function nullable<T extends Schema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}
