import { toBinary } from '@bufbuild/protobuf'
import {
  type Callback,
  type Callback_Nexus,
  type Link,
  LinkSchema,
} from '../../gen/temporal/api/common/v1/message_pb.js'
import { AppError } from '../../platform/errors/app-error.ts'
import { isHeaderName } from '../../platform/outbound/header-text.ts'
import { shortened } from '../../platform/text/shortened.ts'
import { findTargetProblem, type TargetPolicy } from '../destination/address/find-target-problem.ts'
import { readTarget, type Target } from '../destination/address/target.ts'
import { destinationOf, LONGEST_DESTINATION } from '../destination/destination-of.ts'
import { hasControlCharacters, isHeaderText } from '../destination/send/header-text.ts'
import type { CallbackPolicy } from '../settings.ts'
import { invalid } from './invalid.ts'
import { setOwn } from './set-own.ts'

const LEAST_TOKEN_LIMIT = 8_192
// They go wherever the callback goes, which everything else takes for small.
const MOST_LINK_BYTES = 64 * 1024

/** What holds in a namespace. */
export interface CallbackRules {
  policy: CallbackPolicy
  targetPolicy: TargetPolicy
}

export interface CheckedCallback {
  /** With the names of its headers in lower case. */
  callback: Callback
  target: Target
}

/** Rows 4 to 12 of the checks of Start, in their order, and how long the links are. */
export function checkCallback(callback: Callback | undefined, rules: CallbackRules): CheckedCallback {
  if (callback === undefined) throw invalid('callback is not set')
  const { variant } = callback
  if (variant.case === undefined)
    throw new AppError('unimplemented', 'callback has no variant that is known here: set nexus')
  if (variant.case === 'internal') throw invalid('callback.internal is not accepted from callers: set nexus')
  const target = checkUrl(variant.value.url, rules)
  const header = foldHeader(variant.value, rules.policy.header_max_size)
  checkLinks(callback.links)
  return { callback: { ...callback, variant: { case: 'nexus', value: { ...variant.value, header } } }, target }
}

function checkUrl(url: string, { policy, targetPolicy }: CallbackRules): Target {
  const bytes = Buffer.byteLength(url)
  if (bytes > policy.url_max_length) {
    throw invalid(`callback url length is ${bytes} bytes, which exceeds the limit of ${policy.url_max_length}`)
  }
  const { target, problem } = readTarget(url)
  if (problem !== undefined) throw invalid(problem)
  if (destinationOf(target).length > LONGEST_DESTINATION) throw invalid('callback url has a host that is too long')
  const refusal = findTargetProblem(target, targetPolicy)
  if (refusal !== undefined) throw invalid(refusal)
  return target
}

/** Of two names that differ in case only the last one wins. */
function foldHeader({ header, token }: Callback_Nexus, maxBytes: number): Record<string, string> {
  const folded: Record<string, string> = {}
  const entries = Object.entries(header)
  for (const [name, value] of entries) {
    if (!isHeaderName(name)) throw invalid(`callback header name ${shown(name)} is not a legal header name`)
    if (/[\r\n\0]/.test(value)) throw invalid(`callback header ${shown(name)} must not contain CR, LF or NUL`)
    if (!isHeaderText(value)) throw invalid(`callback header ${shown(name)} must not contain control characters`)
  }
  if (hasControlCharacters(token)) throw invalid('callback token must not contain control characters')
  let bytes = 0
  for (const [name, value] of entries) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
    setOwn(folded, name.toLowerCase(), value)
  }
  if (bytes > maxBytes) {
    throw invalid(`callback header size is ${bytes} bytes, which exceeds the limit of ${maxBytes}`)
  }
  checkTokenSize(token, Math.max(maxBytes, LEAST_TOKEN_LIMIT))
  return folded
}

/** It becomes a header, and no receiver takes one of any length. Not counted with the caller's: those may be forbidden altogether. */
function checkTokenSize(token: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(token)
  if (bytes > maxBytes) throw invalid(`callback token size is ${bytes} bytes, which exceeds the limit of ${maxBytes}`)
}

function checkLinks(links: readonly Link[]): void {
  const bytes = links.reduce((sum, link) => sum + toBinary(LinkSchema, link).length, 0)
  if (bytes > MOST_LINK_BYTES) {
    throw invalid(`callback links size is ${bytes} bytes, which exceeds the limit of ${MOST_LINK_BYTES}`)
  }
}

const LONGEST_SHOWN = 60

function shown(name: string): string {
  return JSON.stringify(shortened(name, LONGEST_SHOWN))
}
