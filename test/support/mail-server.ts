import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  from: string
  to: string[]
  headers: Map<string, string>
  text: string
  html: string
  source: string
}

export interface MailServerOptions {
  /** Log-in that it insists on. */
  auth?: { user: string; pass: string }
  /** The same port as before, for a server that comes back. */
  port?: number
}

export interface MailServer extends AsyncDisposable {
  url: string
  port: number
  mails: ReceivedMail[]
  /** Connections that were made, whatever came of them. */
  connections(): number
  /** The next mail that nobody has asked for yet. */
  next(): Promise<ReceivedMail>
  /** Makes it refuse from now on: at the recipient with this text, or not at all. */
  refuse(text: string | null): void
  stop(): Promise<void>
}

/** A real SMTP server on this machine that keeps what it gets. */
export async function startMailServer({ auth, port = 0 }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const unread: ReceivedMail[] = []
  const waiting: ((mail: ReceivedMail) => void)[] = []
  let refusal: string | null = null
  let connections = 0
  const server = new SMTPServer({
    authOptional: auth === undefined,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onConnect: (_session, done) => {
      connections++
      done()
    },
    onAuth: ({ username, password }, _session, done) => {
      if (username === auth?.user && password === auth?.pass) done(null, { user: username })
      else done(new Error(`Invalid login for ${username}`))
    },
    onRcptTo: ({ address }, _session, done) => {
      if (refusal === null) done()
      else done(Object.assign(new Error(`<${address}> ${refusal}`), { responseCode: 550 }))
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        const to = rcptTo.map(({ address }) => address)
        const mail = { from, to, ...parseMail(Buffer.concat(chunks).toString('utf8')) }
        mails.push(mail)
        const waiter = waiting.shift()
        if (waiter === undefined) unread.push(mail)
        else waiter(mail)
        done()
      })
    },
  })
  server.on('error', () => {}) // a client that breaks off
  server.listen(port, '127.0.0.1')
  await once(server.server, 'listening')
  const { port: bound } = server.server.address() as AddressInfo
  const login = auth === undefined ? '' : `${encodeURIComponent(auth.user)}:${encodeURIComponent(auth.pass)}@`
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return {
    url: `smtp://${login}127.0.0.1:${bound}`,
    port: bound,
    mails,
    connections: () => connections,
    next() {
      const mail = unread.shift()
      return mail === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(mail)
    },
    refuse(text) {
      refusal = text
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** As much of MIME as our own mails use: two alternatives, each in one of two encodings. */
function parseMail(source: string): Pick<ReceivedMail, 'headers' | 'text' | 'html' | 'source'> {
  const { headers, body } = parsePart(source)
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1]
  const parts = boundary === undefined ? [] : body.split(`--${boundary}`).slice(1, -1)
  const contents = new Map(
    parts.map((part) => {
      const parsed = parsePart(part.replace(/^\r\n/, ''))
      return [parsed.headers.get('content-type')?.split(';')[0], decoded(parsed)]
    }),
  )
  return { headers, text: contents.get('text/plain') ?? '', html: contents.get('text/html') ?? '', source }
}

function parsePart(source: string): { headers: Map<string, string>; body: string } {
  const end = source.indexOf('\r\n\r\n')
  const lines = source
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  return { headers, body: source.slice(end + 4) }
}

function decoded({ headers, body }: { headers: Map<string, string>; body: string }): string {
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase()
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  if (encoding !== 'quoted-printable') return body.replaceAll('\r\n', '\n')
  const bytes = body
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n')
}

/** The token of the one link in a mail. */
export function tokenIn(mail: ReceivedMail): string {
  const [, token] = /#token=([A-Za-z0-9_-]{43})$/m.exec(mail.text) ?? []
  if (token === undefined) throw new Error(`No link in: ${mail.text}`)
  return token
}
