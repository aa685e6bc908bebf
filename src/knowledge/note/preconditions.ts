import type { FastifyRequest } from 'fastify'
import { AppError } from '../../platform/errors/app-error.ts'
import { matchesNone, requireMatch, requireTag } from '../../platform/http/answer/etag.ts'
import type { Note } from './note.ts'

/** What the caller knew of a note when it decided to change it. */
export interface Preconditions {
  ifMatch?: string | undefined
  ifNoneMatch?: string | undefined
  /** The checksum a client of the modelled system started from. */
  baseChecksum?: string | undefined
}

export function preconditionsOf(headers: FastifyRequest['headers']): Preconditions {
  const base = headers['x-bm-cloud-note-base-checksum']
  return {
    ifMatch: headers['if-match'],
    ifNoneMatch: headers['if-none-match'],
    baseChecksum: Array.isArray(base) ? base[0] : base,
  }
}

export function etagOf({ checksum }: Pick<Note, 'checksum'>): string {
  return `"${checksum}"`
}

/** Throws unless the note is as the caller believes; undefined when there is none. */
export function checkPreconditions(note: Note | undefined, preconditions: Preconditions): void {
  const { ifMatch, ifNoneMatch, baseChecksum } = preconditions
  requireMatch(ifMatch, note === undefined ? null : etagOf(note), 'strong')
  requireTag(ifNoneMatch)
  if (note !== undefined && matchesNone(ifNoneMatch, etagOf(note))) {
    const message =
      ifNoneMatch?.trim() === '*'
        ? 'The note exists already, and If-None-Match: * asks that it does not'
        : 'The note is what If-None-Match names, and it asks that it is not'
    throw new AppError('precondition_failed', message)
  }
  if (baseChecksum === undefined || baseChecksum === note?.checksum) return
  const message =
    note === undefined ? 'The note was deleted meanwhile' : 'The note was changed meanwhile: read it again'
  throw new AppError('conflict', message, { details: [{ db_checksum: note?.checksum ?? null }] })
}
