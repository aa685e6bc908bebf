import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Inbox } from './inbox.ts'

export interface NameServer extends AsyncDisposable {
  /** `address:port`, as a resolver takes it. */
  address: string
  /** Names as they are asked for, once for each kind of address. */
  questions: Inbox<string>
}

type Known = string[] | undefined | null

/**
 * Addresses of the name, of which those of the `kind` that it is asked for are told; undefined says there is no such name, null
 * says nothing.
 */
export type NameScript = (name: string, kind: 'A' | 'AAAA') => Known | Promise<Known>

const TYPE_A = 1
const TYPE_AAAA = 28
const NO_SUCH_NAME = 3

/** A real name server on this machine that knows what it is told. */
export async function startNameServer(script: NameScript): Promise<NameServer> {
  const questions = new Inbox<string>()
  const socket = createSocket('udp4')
  socket.on('message', async (query, { port, address }) => {
    const { name, end } = readName(query)
    const kind = query.readUInt16BE(end) === TYPE_A ? 'A' : 'AAAA'
    questions.add(name)
    const known = await script(name, kind)
    if (known === null) return
    const addresses = (known ?? []).filter((one) => one.includes(':') === (kind === 'AAAA'))
    socket.send(answerTo(query.subarray(0, end + 4), addresses, known === undefined), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    questions,
    async [Symbol.asyncDispose]() {
      socket.close()
    },
  }
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] as number; length > 0; length = query[at] as number) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 1 }
}

function answerTo(query: Buffer, addresses: string[], isUnknown: boolean): Buffer {
  const head = Buffer.from(query)
  head.writeUInt16BE(0x8180 | (isUnknown ? NO_SUCH_NAME : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  const records = addresses.map((address) => {
    const bytes = address.includes(':') ? ipv6Bytes(address) : address.split('.').map(Number)
    // The name of the question, an address of the internet, for a second, so many bytes.
    const type = bytes.length === 4 ? TYPE_A : TYPE_AAAA
    return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 1, 0, bytes.length, ...bytes])
  })
  return Buffer.concat([head, ...records])
}

/** Of one that has all of its parts. */
function ipv6Bytes(address: string): number[] {
  return [...Buffer.from(address.replaceAll(':', ''), 'hex')]
}
