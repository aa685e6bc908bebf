import { CIDR, HOST, isLoopback, ORIGIN } from '../formats.ts'
import { bytes, duration, group, integer, list, orNull, text } from '../keys.ts'
import { show } from '../problems.ts'

const portNumber = { min: 0, max: 65_535 }

function freePort(taken: number, { port, grpc_port, metrics_port }: Record<string, unknown>): number {
  let free = taken
  while ([port, grpc_port, metrics_port].includes(free)) free = free < portNumber.max ? free + 1 : 0
  return free
}

export const serverSettings = group(
  {
    host: text({
      ...HOST,
      description: 'Address to listen on. `dev` takes loopback addresses only.',
      default: '0.0.0.0',
      byMode: { dev: '127.0.0.1' },
      example: '127.0.0.1',
    }),
    port: integer({ ...portNumber, description: 'Port for HTTP and Connect; 0 takes any free one.', default: 4040 }),
    grpc_port: integer({
      ...portNumber,
      description: 'Port for gRPC over cleartext HTTP/2; 0 takes any free one.',
      default: 4041,
    }),
    metrics_port: orNull(
      integer({
        ...portNumber,
        description:
          'Port of its own for `/metrics`, without credentials; the main port has it for administrators. 0 takes any free one, which the log names.',
        example: 9464,
      }),
    ),
    base_url: orNull(
      text({
        ...ORIGIN,
        description:
          'The address people reach the server at; null means `http://localhost:<port>`. Set it in production.',
        example: 'https://kb.example.org',
      }),
    ),
    trusted_proxies: list(text({ ...CIDR, example: '10.0.0.0/8' }), {
      description: 'Addresses and ranges of the proxies whose forwarding headers are believed.',
      default: [],
    }),
    shutdown_timeout: duration({
      description: 'How long requests in flight may go on after SIGTERM or SIGINT.',
      default: '10s',
      max: '1h',
    }),
    body_limit: bytes({
      description: 'Largest request body, or message of RPC; some operations allow less.',
      default: 10_485_760,
      min: 1024,
      max: 1_073_741_824,
    }),
    // Three quarters of it may be the address: room for the longest query of callbacks, 10,000 bytes, all percent-encoded.
    header_limit: bytes({
      description: 'Largest request head; three quarters of it may be the address.',
      default: 49_152,
      min: 2048,
      max: 1_048_576,
    }),
    request_timeout: duration({
      description: 'How long a request may take to arrive as a whole; 0 waits for ever.',
      default: '30s',
      max: '1h',
    }),
    idle_timeout: duration({
      description:
        'A connection on which nothing moves for this long is closed, unless a request on it waits for its answer; 0 never.',
      default: '72s',
      max: '1d',
    }),
    unread_timeout: duration({
      description:
        'A caller that takes nothing of an answer of more than a megabyte for this long is cut off; 0 never.',
      default: '10s',
      max: '1d',
    }),
    keep_alive_timeout: duration({
      description:
        'How long a connection is kept for a next request; longer than that of a proxy before it. 0 leaves it to `idle_timeout`.',
      default: '72s',
      max: '1d',
    }),
    max_connections: integer({
      description: 'Most connections at a time, to each of the two ports; 0 means no limit.',
      default: 10_000,
      max: 1_000_000,
    }),
  },
  {
    description: 'How the server listens.',
    checks: [
      ({ host }, report, { mode }) => {
        if (mode !== 'dev' || isLoopback(host)) return
        report(['host'], `must be a loopback address in \`dev\`, not ${show(host)}; use \`serve\` to listen elsewhere`)
      },
      (server, report) => {
        const taken = new Map<number, string>()
        for (const key of ['port', 'grpc_port', 'metrics_port'] as const) {
          const port = server[key] ?? 0
          const other = taken.get(port)
          if (other !== undefined)
            report([key], `must not be ${port}, which \`server.${other}\` has`, freePort(port, server))
          if (port !== 0) taken.set(port, key)
        }
      },
    ],
  },
)
