/**
 * Requests that the parser refuses never reach a route: broken syntax, too large a head, too slow. The answer is
 * written to the socket by hand, in the shape of the path as far as it can be read.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { AppError } from '../../errors/app-error.ts'
import { newId } from '../../ids/uuid.ts'
import { errorAnswer } from '../failure/error-shapes.ts'
import { routedPath, surfaceOf } from '../surface.ts'
import { CORS_HEADERS, isSharedAcrossOrigins, PLAIN_HEADERS } from './header-blocks.ts'
import { responseOn } from './response-on.ts'

interface ParserError extends Error {
  code?: string
  rawPacket?: Buffer
  /** Of the packet. */
  bytesParsed?: number
}

const REQUEST_LINE = /^[A-Z]{1,20} (\/[^\s]*)/

/** Connections whose request has its answer while the rest of its body still comes: they get no second one. */
export const answeredEarly = new WeakSet<Socket>()

export function answerClientError(error: ParserError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || answeredEarly.has(socket)) return void socket.destroy()
  // A pipelined request that has arrived as a whole is one before the refused one: it may still be answered, and its
  // bytes must not be mixed with ours. One whose body is not complete is the refused one itself.
  const current = responseOn(socket)
  if (current?.req.complete && !current.writableFinished) {
    current.once('close', () => answerClientError(error, socket))
    return
  }
  if (current?.headersSent) return void socket.destroy()
  // When the head has arrived and the body is late, the request knows its address; else the refused bytes may show it.
  const line = error.rawPacket?.toString('latin1', 0, 4096) ?? ''
  socket.end(rawAnswer(toClientError(error), routedPath(current?.req.url ?? REQUEST_LINE.exec(line)?.[1] ?? '')))
  socket.destroySoon()
}

/** Node takes a request for a tunnel out of the others, and hands its connection over with nobody who hears of errors. */
export function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => {})
  socket.end(rawAnswer(new AppError('unimplemented', 'This server is no proxy'), ''), () => socket.destroy())
}

function rawAnswer(error: AppError, path: string): string {
  const requestId = newId()
  const { status, headers, body } = errorAnswer(surfaceOf(path), error, requestId)
  const text = JSON.stringify(body)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${isSharedAcrossOrigins(path) ? CORS_HEADERS : PLAIN_HEADERS}${lines.join('')}x-request-id: ${requestId}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`
}

function toClientError(error: ParserError): AppError {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request did not arrive in time')
    case 'HPE_HEADER_OVERFLOW':
      return isInRequestLine(error)
        ? new AppError('uri_too_long', 'The request address is too long')
        : new AppError('headers_too_large', 'The request headers are too large')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError('invalid_argument', 'The chunk extensions of the request body are too large')
    default:
      return new AppError('invalid_argument', 'The request is not valid HTTP')
  }
}

/** The head overflowed before its first line was over. */
function isInRequestLine({ rawPacket: packet, bytesParsed = 0 }: ParserError): boolean {
  if (packet === undefined || !/^[A-Z]{1,20} \//.test(packet.toString('latin1', 0, 22))) return false
  const end = packet.indexOf('\r\n')
  return end === -1 || bytesParsed < end
}
