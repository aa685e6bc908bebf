/** One mail over one connection. Retries are the business of the job that calls it. */
import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection, { type SMTPEnvelope } from 'nodemailer/lib/smtp-connection'
import { isLoopback } from '../../platform/config/formats.ts'
import { ignoreFailure } from '../../platform/errors/ignore-failure.ts'
import { MailFailure } from './mail-failure.ts'

export interface Mailbox {
  name: string
  address: string
}

export interface MailMessage {
  messageId: string
  from: Mailbox
  to: string
  subject: string
  text: string
  html: string
  date: Date
}

export interface SmtpServer {
  host: string
  port: number
  /** TLS from the first byte; otherwise the connection is upgraded when the server offers it. */
  secure: boolean
  /** An unencrypted connection is no choice. */
  requireTls: boolean
  credentials: { user: string; pass: string } | null
}

const TIMEOUTS = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 15_000, socketTimeout: 30_000 }

/**
 * From `smtp://user:password@host:port`. A password leaves this machine only encrypted; `?require_tls=true` asks the same
 * for servers without one, `?require_tls=false` gives it up.
 */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = new URL(text)
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const user = decodeURIComponent(url.username)
  const wanted = url.searchParams.get('require_tls')
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTls: wanted === null ? user !== '' && !isLoopback(host) : wanted !== 'false',
    credentials: user === '' ? null : { user, pass: decodeURIComponent(url.password) },
  }
}

export async function compose(message: MailMessage): Promise<{ envelope: SMTPEnvelope; source: Buffer }> {
  const { messageId, from, to, subject, text, html, date } = message
  // The library would take brackets out and write to somebody else.
  if (/[<>]/.test(to)) throw new MailFailure('No mail can be sent to an address with a bracket in it')
  const node = new MailComposer({
    messageId,
    from,
    // As an object it is one address, whatever commas and brackets are in it.
    to: { name: '', address: to },
    subject,
    text,
    html,
    date,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
  const envelope = node.getEnvelope()
  return { envelope: { from: envelope.from, to: envelope.to }, source: await node.build() }
}

/** Resolves when the server took the mail over; throws a MailFailure, or the signal's reason, when it did not. */
export async function sendOverSmtp(server: SmtpServer, message: MailMessage, signal: AbortSignal): Promise<void> {
  const { envelope, source } = await compose(message)
  signal.throwIfAborted()
  const { host, port, secure, requireTls: requireTLS, credentials } = server
  const connection = new SMTPConnection({ host, port, secure, requireTLS, logger: false, ...TIMEOUTS })
  const broken = Promise.withResolvers<never>()
  ignoreFailure(broken.promise, 'it may break after everything is done')
  connection.on('error', broken.reject)
  connection.once('end', () => broken.reject(new MailFailure('The mail server ended the connection')))
  const onAbort = () => broken.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const step = (begin: (done: (error?: Error | null) => void) => void) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    begin((error) => (error ? reject(error) : resolve()))
    return Promise.race([promise, broken.promise])
  }
  try {
    await step((done) => connection.connect(done))
    if (credentials !== null) await step((done) => connection.login(credentials, done))
    await step((done) => connection.send(envelope, source, done))
    connection.quit()
  } catch (error) {
    connection.close()
    throw signal.aborted ? signal.reason : MailFailure.of(error)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
