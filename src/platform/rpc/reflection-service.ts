/**
 * gRPC reflection in both versions that clients ask for. They differ in their package name only, so one function answers;
 * its types are those of v1. It is open to everybody, and who asks nothing may stay as long as it likes: so the number of
 * streams is bounded, or they would take all the calls that the port has.
 */
import type { DescFile, DescService, MessageInitShape } from '@bufbuild/protobuf'
import { Code } from '@connectrpc/connect'
import { file_google_rpc_error_details } from '../../gen/google/rpc/error_details_pb.js'
import { file_google_rpc_status } from '../../gen/google/rpc/status_pb.js'
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from '../../gen/grpc/reflection/v1/reflection_pb.js'
import { ServerReflection as ServerReflectionAlpha } from '../../gen/grpc/reflection/v1alpha/reflection_pb.js'
import { AppError } from '../errors/app-error.ts'
import type { CallContext } from './call.ts'
import { DescriptorIndex, fileWithImports } from './descriptor-index.ts'
import { FairPlaces } from './fair-places.ts'
import { type RpcService, rpcService } from './rpc-service.ts'
import { untilAborted } from './run-handler.ts'

type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>['messageResponse']
type Question = Pick<ServerReflectionRequest, 'host' | 'messageRequest'>

// The messages of the two versions have equal fields; only the names of their types differ.
// biome-ignore lint/suspicious/noExplicitAny: that difference cannot be said in a type
type AlphaHandler = (questions: AsyncIterable<any>, context: CallContext) => AsyncIterable<any>

const MAX_STREAMS = 1_000
const OPTIONS = { readMaxBytes: 16 * 1024, isQuiet: true }

// Not part of any service, yet every client gets them: a tool that asks what they mean should hear it.
const ERROR_FILES = [file_google_rpc_error_details, file_google_rpc_status]

/** `served` is read at the first question: by then it names every service, these two included. */
export function reflectionServices(served: readonly DescService[], alsoReflect: readonly DescFile[]): RpcService[] {
  let index: DescriptorIndex | undefined
  const places = new FairPlaces(MAX_STREAMS)

  async function* answerBounded(questions: AsyncIterable<Question>, { closing, clientAddress }: CallContext) {
    const giveWay = new AbortController()
    const place = places.enter(clientAddress, () => giveWay.abort())
    if (place === undefined) throw tooMany()
    try {
      yield* answerAll(questions, closing, giveWay.signal)
    } finally {
      place.leave()
    }
  }

  async function* answerAll(questions: AsyncIterable<Question>, closing: AbortSignal, giveWay: AbortSignal) {
    const ending = AbortSignal.any([closing, giveWay])
    index ??= new DescriptorIndex([...served.map(({ file }) => file), ...ERROR_FILES, ...alsoReflect])
    const sent = new Set<string>()
    const source = questions[Symbol.asyncIterator]()
    for (;;) {
      const next = await untilAborted(() => source.next(), ending).catch((error: unknown) => {
        if (closing.aborted) throw new AppError('unavailable', 'The server is shutting down.')
        throw giveWay.aborted ? tooMany() : error
      })
      if (next.done === true) return
      const { host, messageRequest } = next.value
      yield {
        validHost: host,
        originalRequest: { host, messageRequest },
        messageResponse: answer(messageRequest, index, served, sent),
      }
    }
  }

  return [
    rpcService(ServerReflection, { serverReflectionInfo: { access: 'public', handler: answerBounded } }, OPTIONS),
    rpcService(
      ServerReflectionAlpha,
      { serverReflectionInfo: { access: 'public', handler: answerBounded as AlphaHandler } },
      OPTIONS,
    ),
  ]
}

function tooMany(): AppError {
  return new AppError('rate_limited', 'Too many callers ask this server about itself.')
}

function answer(
  question: Question['messageRequest'],
  index: DescriptorIndex,
  served: readonly DescService[],
  sent: Set<string>,
): Answer {
  switch (question.case) {
    case 'listServices': {
      const service = served.map(({ typeName: name }) => ({ name })).sort((a, b) => (a.name < b.name ? -1 : 1))
      return { case: 'listServicesResponse', value: { service } }
    }
    case 'fileByFilename':
      return fileAnswer(index.file(question.value), sent, 'There is no file of that name.')
    case 'fileContainingSymbol':
      return fileAnswer(index.fileOfSymbol(question.value), sent, 'There is no symbol of that name.')
    case 'fileContainingExtension': {
      const { containingType, extensionNumber } = question.value
      return fileAnswer(index.fileOfExtension(containingType, extensionNumber), sent, 'There is no such extension.')
    }
    case 'allExtensionNumbersOfType': {
      const extensionNumber = index.extensionNumbers(question.value)
      if (extensionNumber === undefined) return refusal(Code.NotFound, 'There is no message of that name.')
      return { case: 'allExtensionNumbersResponse', value: { baseTypeName: question.value, extensionNumber } }
    }
    default:
      return refusal(Code.InvalidArgument, 'The request does not say what it asks for.')
  }
}

function fileAnswer(file: DescFile | undefined, sent: Set<string>, otherwise: string): Answer {
  if (file === undefined) return refusal(Code.NotFound, otherwise)
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto: fileWithImports(file, sent) } }
}

function refusal(errorCode: Code, errorMessage: string): Answer {
  return { case: 'errorResponse', value: { errorCode, errorMessage } }
}
