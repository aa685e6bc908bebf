import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Code, ConnectError, createClient } from '@connectrpc/connect'
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RequestInfoSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from '../../../src/gen/google/rpc/error_details_pb.js'
import { AppError } from '../../../src/platform/errors/app-error.ts'
import { ERROR_CODES, type ErrorCode } from '../../../src/platform/errors/codes.ts'
import { errorDetail } from '../../../src/platform/rpc/rpc-error.ts'
import { ProbeService, probeService } from './probe-service.ts'
import { PROTOCOLS, type RpcServer, startRpcServer, transportOf } from './rpc-server.ts'

const SECRET = 'duplicate key in /var/lib/secret.db'

function fail(what: string): never {
  if (what === 'defect') throw new TypeError(SECRET)
  if (what === 'not an error') throw SECRET
  if (what === 'hidden cause')
    throw new AppError('unavailable', 'Storage does not answer.', { cause: new Error(SECRET) })
  if (what === 'problems')
    throw new AppError('invalid_argument', 'Two things are wrong.', { problems: ['a is short', 'b is long'] })
  if (what === 'slow down') throw new AppError('rate_limited', 'Slow down.', { headers: { 'Retry-After': '7' } })
  if (what === 'own detail') {
    const detail = errorDetail(ResourceInfoSchema, { resourceName: 'thing' })
    throw new AppError('not_found', 'There is no thing.', { details: [detail, { not: 'a message' }] })
  }
  if (what === 'endless')
    throw new AppError('unprocessable', 'ü'.repeat(100_000), { problems: Array(5_000).fill('x'.repeat(5_000)) })
  throw new AppError(what as ErrorCode, `It is ${what}.`)
}

describe('errors', () => {
  let server: RpcServer
  before(async () => {
    server = await startRpcServer(null, {
      services: [
        probeService({
          open: { access: 'public', handler: ({ value }) => fail(value) },
          count: {
            access: 'public',
            async *handler({ value }) {
              yield { value: 'first' }
              fail(value)
            },
          },
        }),
      ],
    })
  })
  after(() => server.stop())

  async function errorOf(protocol: (typeof PROTOCOLS)[number], value: string): Promise<ConnectError> {
    const client = createClient(ProbeService, transportOf(server, protocol))
    const caught = await client.open({ value }).then(() => assert.fail('the call succeeded'), ConnectError.from)
    return caught
  }

  for (const protocol of PROTOCOLS) {
    test(`${protocol}: every error code has the status of the table`, async () => {
      for (const [code, { rpc }] of Object.entries(ERROR_CODES)) {
        const error = await errorOf(protocol, code)
        assert.equal(error.code, rpc, code)
        assert.equal(error.rawMessage, `It is ${code}.`)
        const [info] = error.findDetails(ErrorInfoSchema)
        assert.equal(info?.reason, code)
        assert.equal(info?.domain, 'commonplace')
      }
    })

    test(`${protocol}: problems, retry time and details of the feature travel along`, async () => {
      const [bad] = (await errorOf(protocol, 'problems')).findDetails(BadRequestSchema)
      assert.deepEqual(
        bad?.fieldViolations.map(({ description }) => description),
        ['a is short', 'b is long'],
      )

      const slow = await errorOf(protocol, 'slow down')
      assert.equal(slow.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds, 7n)
      assert.equal(slow.metadata.get('retry-after'), '7')

      const own = await errorOf(protocol, 'own detail')
      assert.equal(own.findDetails(ResourceInfoSchema)[0]?.resourceName, 'thing')
      assert.equal(own.details.length, 2)
    })

    test(`${protocol}: a defect says nothing about the server but where to look it up`, async () => {
      for (const what of ['defect', 'not an error', 'hidden cause']) {
        const error = await errorOf(protocol, what)
        assert.equal(error.code, what === 'hidden cause' ? Code.Unavailable : Code.Internal)
        assert.doesNotMatch(
          JSON.stringify([error.message, error.details, [...error.metadata]]),
          /secret|TypeError|\.ts/,
        )
      }
      const error = await errorOf(protocol, 'defect')
      const [info] = error.findDetails(RequestInfoSchema)
      const logged = server.lines.filter((line) => line.request === info?.requestId)
      assert.ok(logged.some((line) => line.level === 'error' && JSON.stringify(line.err).includes(SECRET)))
      assert.ok(logged.some((line) => line.msg === 'call' && line.code === 'internal'))
    })

    test(`${protocol}: an error in the middle of a stream comes after what was sent`, async () => {
      const seen: string[] = []
      const client = createClient(ProbeService, transportOf(server, protocol))
      const reading = (async () => {
        for await (const { value } of client.count({ value: 'defect' })) seen.push(value)
      })()
      await assert.rejects(
        reading,
        (error: ConnectError) => error.code === Code.Internal && !error.message.includes('secret'),
      )
      assert.deepEqual(seen, ['first'])
    })

    test(`${protocol}: an error of any length arrives as that error`, async () => {
      const error = await errorOf(protocol, 'endless')
      assert.equal(error.code, Code.InvalidArgument)
      assert.ok(error.rawMessage.length <= 1_000)
      assert.ok(error.rawMessage.startsWith('üüü'))
    })

    test(`${protocol}: storage that fails during authentication is not shown to the caller`, async () => {
      const client = createClient(ProbeService, transportOf(server, protocol))
      const call = client.echo({ value: 'x' }, { headers: { authorization: 'Bearer broken' } })
      await assert.rejects(
        call,
        (error: ConnectError) => error.code === Code.Internal && !error.message.includes('10.1.2.3'),
      )
    })
  }
})
