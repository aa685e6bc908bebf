import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { whileAllowed } from '../../platform/http/entry/still-allowed.ts'
import { bodyParser } from '../../platform/http/input/body-parser.ts'
import { operation } from '../../platform/http/operation.ts'
import { adminOperation, under } from '../admin-operations.ts'
import { invalidField } from '../invalid.ts'
import type { BlockServiceOptions } from './block-service.ts'
import { exportBlocks, importBlocks, importToJson } from './import-blocks.ts'

const LIST = '/api/v1/admin/domain_blocks'
const CSV_TYPES = ['text/csv', 'text/plain', 'application/csv', 'application/octet-stream']
const LARGEST_FILE = 10 * 1024 * 1024

const ImportDocument = Type.Object({
  dry_run: Type.Boolean(),
  imported: Type.Integer({ description: 'Domains that were blocked, or would be.' }),
  skipped: Type.Integer({ description: 'Lines whose domain was covered already.' }),
  failed: Type.Integer({ description: 'Bad lines.' }),
  errors: Type.Array(Type.Object({ line: Type.Integer(), domain: Type.String(), error: Type.String() }), {
    description: 'The first thousand of the bad lines.',
  }),
})

const ImportQuery = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Say what would happen, and change nothing.' })),
  skip_bad_lines: Type.Optional(
    Type.Boolean({ description: 'False refuses a file with a bad line as a whole.', default: true }),
  ),
})

const ImportBody = Type.Union([Type.String(), Type.Object({ csv: Type.String() })], {
  description: 'The file as text/csv, or as the member csv of a JSON object.',
})

export function blockFileRoutes(
  server: FastifyInstance,
  deps: BlockServiceOptions,
  rateLimit: readonly RateRule[],
): void {
  const admin = adminOperation(rateLimit)

  operation(server, {
    method: 'GET',
    url: `${LIST}/export`,
    aliases: [`${LIST}/export.csv`],
    operationId: 'ExportDomainBlocks',
    summary: 'Export the domain blocks as CSV',
    ...admin,
    schema: { response: { 200: { contentType: 'text/csv', description: 'All blocks, the oldest first.' } } },
    handler(request, reply) {
      reply.header('content-disposition', 'attachment; filename="domain_blocks.csv"')
      const pages = whileAllowed(request, exportBlocks(deps))
      return reply.type('text/csv; charset=utf-8').send(Readable.from(pages, { objectMode: false }))
    },
  })

  server.register((scope, _options, done) => {
    scope.addContentTypeParser(CSV_TYPES, { parseAs: 'buffer' }, bodyParser(textOf))
    operation(scope, {
      method: 'POST',
      ...under(`${LIST}/import`),
      operationId: 'ImportDomainBlocks',
      summary: 'Import domain blocks from CSV',
      description:
        'Domains that are covered already are skipped. So are bad lines, as the masked names of a published list: the answer has each of them.',
      ...admin,
      bodyLimit: LARGEST_FILE,
      takes: { 'text/csv': { type: 'string' } },
      schema: { querystring: ImportQuery, body: ImportBody, response: { 200: ImportDocument } },
      async handler(request) {
        const { dry_run: dryRun = false, skip_bad_lines: skipBadLines = true } = request.query
        const csv = typeof request.body === 'string' ? request.body : request.body.csv
        const wish = { csv, dryRun, skipBadLines }
        return importToJson(await importBlocks(deps, callerOf(request), wish, clientOf(request)))
      },
    })
    done()
  })
}

function textOf(file: Buffer): string {
  if (!isUtf8(file)) throw invalidField('', 'The file is not text in UTF-8')
  return file.toString()
}
