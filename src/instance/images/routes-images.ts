import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../platform/errors/app-error.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { operation } from '../../platform/http/operation.ts'
import { adminOperation, under } from '../admin-operations.ts'
import { IconDocument, iconDocument, ThumbnailDocument, thumbnailDocument } from './image-documents.ts'
import type { ImageFiles } from './image-files.ts'
import { IMAGES_PATH } from './image-names.ts'
import type { ImageService } from './image-service.ts'
import type { ImageKind } from './image-sizes.ts'
import { IMAGE_TYPES, readUpload, UPLOAD_FORMS, uploadScope } from './read-upload.ts'

export interface ImageRouteParts {
  images: ImageService
  files: ImageFiles
  rateLimit: readonly RateRule[]
  baseUrl(): string
}

const FOR_EVER = 'public, max-age=31536000, immutable'
const MAX_UPLOAD = 10 * 1024 * 1024
const Query = Type.Object({
  description: Type.Optional(Type.String({ description: 'Alternative text, at most 200 characters.', default: '' })),
})

export function imageRoutes(server: FastifyInstance, parts: ImageRouteParts): void {
  fileRoute(server, parts.files)
  uploadScope(server, (scope) => {
    adminRoutes(scope, parts, 'thumbnail', { document: ThumbnailDocument, write: thumbnailDocument })
    adminRoutes(scope, parts, 'icon', { document: IconDocument, write: iconDocument })
  })
}

type Shape =
  | { document: typeof ThumbnailDocument; write: typeof thumbnailDocument }
  | { document: typeof IconDocument; write: typeof iconDocument }

function adminRoutes(
  scope: FastifyInstance,
  parts: ImageRouteParts,
  kind: ImageKind,
  { document, write }: Shape,
): void {
  const { images, rateLimit, baseUrl } = parts
  const admin = adminOperation(rateLimit)
  const title = kind === 'icon' ? 'Icon' : 'Thumbnail'

  operation(scope, {
    method: 'PUT',
    ...under(`/api/v1/admin/instance/${kind}`),
    operationId: `PutInstance${title}`,
    summary: `Replace the ${kind} of the instance`,
    description: `The body is a picture (${IMAGE_TYPES.join(', ')}) of at most 10 MiB, or a form with one as a file. All sizes are made from it; it is cropped to their shape.`,
    ...admin,
    takes: UPLOAD_FORMS,
    bodyLimit: MAX_UPLOAD,
    schema: { querystring: Query, response: { 200: document } },
    async handler(request) {
      const upload = await readUpload(request, request.query.description)
      return write(await images.put(callerOf(request), kind, upload, clientOf(request)), baseUrl())
    },
  })

  operation(scope, {
    method: 'DELETE',
    ...under(`/api/v1/admin/instance/${kind}`),
    operationId: `DeleteInstance${title}`,
    summary: `Return to the shipped ${kind}`,
    ...admin,
    schema: { response: { 200: Type.Object({}) } },
    async handler(request) {
      await images.delete(callerOf(request), kind, clientOf(request))
      return {}
    },
  })
}

function fileRoute(server: FastifyInstance, files: ImageFiles): void {
  operation(server, {
    method: 'GET',
    url: `${IMAGES_PATH}/:file`,
    operationId: 'GetInstanceImage',
    summary: 'Read a picture of the instance',
    description:
      'Its name changes with its bytes. The name of a picture that was replaced still means it for a while, then leads to the one in its place.',
    tags: ['instance'],
    surface: 'platform',
    access: 'public',
    rateLimit: null,
    etag: true,
    sends: ['Location'],
    schema: {
      params: Type.Object({ file: Type.String() }),
      response: { 200: { contentType: 'image/*', description: 'The picture' }, 302: null },
    },
    async handler(request, reply) {
      const found = await files.find(request.params.file)
      if (found === null) throw new AppError('not_found', 'Not Found')
      if ('movedTo' in found) {
        return reply.header('cache-control', 'no-store').redirect(`${IMAGES_PATH}/${found.movedTo}`, 302)
      }
      // The name says as much of the bytes as a hash would that is made of them at every request.
      reply.header('etag', `W/"${request.params.file}"`)
      return reply.header('cache-control', FOR_EVER).type(found.contentType).send(found.bytes)
    },
  })
}
