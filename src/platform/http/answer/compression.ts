/**
 * Compression of what a route sends. Fifty lines instead of the plugin: a small answer passes with two comparisons,
 * and a buffer that is sent again and again (a cached document) is compressed once.
 */
import { PassThrough, pipeline, type Readable } from 'node:stream'
import { type BrotliOptions, brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'

export type Coding = 'br' | 'gzip'

export const MIN_COMPRESSED_BYTES = 1024
// A stream of events stays open for hours, and each would keep a window of some megabytes for a few bytes now and then.
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]*json|javascript|xml|yaml|[\w.+-]+\+xml)|image\/svg)/
const ZERO = /^q=0(?:\.0{0,3})?$/
// Quality 4 is as fast as gzip's default and smaller.
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

const kept = new WeakMap<Buffer, Partial<Record<Coding, Buffer>>>()

/** The best coding the caller takes; what it weighs `q=0` it does not take. */
export function codingFor(accepted: string | undefined): Coding | null {
  if (accepted === undefined) return null
  const no = accepted.includes('q=0') ? refusedIn(accepted) : []
  if (/\bbr\b/.test(accepted) && !no.includes('br')) return 'br'
  return /\bgzip\b/.test(accepted) && !no.includes('gzip') ? 'gzip' : null
}

// Piece by piece: one expression over the whole header would need a second for a long one.
function refusedIn(accepted: string): string[] {
  const refused: string[] = []
  for (const piece of accepted.split(',')) {
    const [name = '', weight = ''] = piece.split(';', 2)
    if (ZERO.test(weight.trim())) refused.push(name.trim())
  }
  return refused
}

export function isCompressible(reply: FastifyReply): boolean {
  const type = reply.getHeader('content-type')
  return typeof type === 'string' && COMPRESSIBLE.test(type) && !reply.hasHeader('content-encoding')
}

export function compress(
  body: string | Buffer,
  coding: Coding,
  done: (error: Error | null, body: Buffer) => void,
): void {
  const known = typeof body === 'string' ? undefined : kept.get(body)
  const before = known?.[coding]
  if (before !== undefined) {
    done(null, before)
    return
  }
  const keep = (error: Error | null, compressed: Buffer) => {
    if (error === null && typeof body !== 'string') kept.set(body, { ...kept.get(body), [coding]: compressed })
    done(error, compressed)
  }
  if (coding === 'br') brotliCompress(body, BROTLI, keep)
  else gzip(body, keep)
}

/** Flushes with every chunk, so that what is sent bit by bit arrives bit by bit. */
export function compressStream(source: Readable, coding: Coding): Readable {
  const packer =
    coding === 'br'
      ? createBrotliCompress({ ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH })
      : createGzip({ flush: constants.Z_SYNC_FLUSH })
  // The error of either end reaches whoever reads the packer.
  return pipeline(source, packer, new PassThrough(), () => {}) as Readable
}

export function varyBy(reply: FastifyReply, name: string): void {
  const vary = reply.getHeader('vary')
  if (typeof vary !== 'string' || vary === '') reply.header('vary', name)
  else if (!vary.toLowerCase().includes(name.toLowerCase())) reply.header('vary', `${vary}, ${name}`)
}
