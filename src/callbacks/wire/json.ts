import type { DescMessage, MessageShape } from '@bufbuild/protobuf'
import { indentedText } from './indented-text.ts'
import { type ReadOptions, readFields } from './read-message.ts'
import { toInvalidArgument, WireProblem } from './wire-problem.ts'
import { type WriteOptions, writeFields } from './write-message.ts'

export interface TextOptions extends WriteOptions {
  /** Whether the text is indented for people, where that does not make far too much of it. */
  pretty: boolean
}

const IN_SHORT = { shorthand: true }

/** A message from its JSON, as `parseJson` gives it; nothing at all is the message with nothing set. Throws `invalid_argument`. */
export function readMessage<Desc extends DescMessage>(
  desc: Desc,
  json: unknown,
  options: ReadOptions = IN_SHORT,
): MessageShape<Desc> {
  try {
    return readFields(desc, json === undefined ? {} : json, options, 0) as MessageShape<Desc>
  } catch (error) {
    throw error instanceof WireProblem ? toInvalidArgument(error) : error
  }
}

/** The JSON of a message, for `JSON.stringify`: numbers in payloads that JavaScript cannot hold are kept as written. */
export function writeMessage<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
): Record<string, unknown> {
  return writeFields(desc, message, IN_SHORT)
}

export function writeText<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
  { shorthand, pretty }: TextOptions,
): string {
  const json = writeFields(desc, message, { shorthand })
  return pretty ? indentedText(json) : JSON.stringify(json)
}
