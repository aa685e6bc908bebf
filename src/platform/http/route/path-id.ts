import { AppError } from '../../errors/app-error.ts'
import { shownId } from '../../ids/shown-id.ts'
import { type Id, parseId } from '../../ids/uuid.ts'

/** The id of a path. What is no UUID cannot be the id of anything: not found, as an unknown one. */
export function pathId<Brand extends string>(what: string, text: string): Id<Brand> {
  const id = parseId<Brand>(text)
  if (id === undefined) throw new AppError('not_found', `${what} ${shownId(text)} not found`)
  return id
}

/** A body repeats the id of its path, so that one meant for another resource is not applied to this one. */
export function requireSameId(bodyId: string, id: string): void {
  if (bodyId.toLowerCase() !== id.toLowerCase()) {
    throw new AppError('unprocessable', 'The id in the body does not match the id in the path')
  }
}
