import { MIMEType } from 'node:util'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/errors/app-error.ts'
import { bodyParser } from '../../platform/http/input/body-parser.ts'
import { takeEmptyBody } from '../../platform/http/input/empty-body.ts'
import { invalidField } from '../invalid.ts'
import type { Upload } from './image-service.ts'

export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']
const FORM = 'multipart/form-data'
// A picture and its description, and what a page may send beside them.
const MOST_PARTS = 20
const LONGEST_HEAD = 8 * 1024
const PICTURE = { type: 'string', format: 'binary' }
/** What a body may be, for the documentation. A file in a form may have any name; ours is as good as another. */
export const UPLOAD_FORMS = {
  ...Object.fromEntries(IMAGE_TYPES.map((type) => [type, PICTURE])),
  [FORM]: { type: 'object', required: ['image'], properties: { image: PICTURE, description: { type: 'string' } } },
}

/** A place for operations whose bodies are pictures: as they are, or as a file in a form. */
export function uploadScope(server: FastifyInstance, register: (scope: FastifyInstance) => void): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', takeEmptyBody)
    scope.addContentTypeParser(
      [...IMAGE_TYPES, FORM],
      { parseAs: 'buffer' },
      bodyParser((body) => body),
    )
    register(scope)
    done()
  })
}

/** The description is a field of the form, or stands in the query beside a bare picture. */
export async function readUpload(request: FastifyRequest, description = ''): Promise<Upload> {
  const type = request.headers['content-type'] ?? ''
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  if (body.length === 0)
    throw invalidField('image', 'is required: send a JPEG, PNG, GIF or WebP picture as the body', 'ERR_BLANK')
  return type.toLowerCase().startsWith(FORM) ? readForm(body, type, description) : { bytes: body, description }
}

async function readForm(body: Buffer, given: string, description: string): Promise<Upload> {
  const type = readType(given)
  refuseManyParts(body, `--${type.params.get('boundary')}`)
  const form = await new Response(Uint8Array.from(body), { headers: { 'content-type': String(type) } })
    .formData()
    .catch((cause: unknown) => {
      throw unreadable(cause)
    })
  let file: File | undefined
  let text = description
  for (const [name, value] of form as unknown as Iterable<[string, File | string]>) {
    if (typeof value !== 'string') file ??= value
    else if (name === 'description') text = value
  }
  if (file === undefined)
    throw invalidField('image', 'is required: send a JPEG, PNG, GIF or WebP picture as a file of the form', 'ERR_BLANK')
  return { bytes: Buffer.from(await file.arrayBuffer()), description: text }
}

function readType(given: string): MIMEType {
  try {
    const type = new MIMEType(given)
    if (type.params.get('boundary')) return type
  } catch (cause) {
    throw unreadable(cause)
  }
  throw unreadable()
}

/** What would be read in one go, part by part and name by name, while everybody waits. */
function refuseManyParts(body: Buffer, boundary: string): void {
  let parts = 0
  for (let at = body.indexOf(boundary); at !== -1; at = body.indexOf(boundary, at + boundary.length)) {
    if (++parts > MOST_PARTS) throw invalidField('', `The form has more than ${MOST_PARTS} parts`, 'ERR_TOO_MANY')
    const head = body.subarray(at + boundary.length, at + LONGEST_HEAD)
    const isEnd = head.length < LONGEST_HEAD - boundary.length || head.indexOf('--') === 0
    if (!isEnd && !head.includes('\r\n\r\n')) {
      throw invalidField('', 'A part of the form has too many or too long headers', 'ERR_TOO_LONG')
    }
  }
}

function unreadable(cause?: unknown): AppError {
  const text = 'The form cannot be read: send it as multipart/form-data with a boundary'
  return new AppError('invalid_argument', text, { cause })
}
