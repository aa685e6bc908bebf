interface SmtpError {
  code?: unknown
  responseCode?: unknown
}

const REASONS: Record<string, string> = {
  EAUTH: 'The mail server refused the user name or password',
  ENOAUTH: 'The mail server refused the user name or password',
  EENVELOPE: 'The mail server refused the sender or the recipient',
  EMESSAGE: 'The mail server refused the message',
  ETLS: 'The mail server offers no encrypted connection, or one that cannot be trusted',
  EDNS: 'The name of the mail server cannot be resolved',
  EPROTOCOL: 'The mail server does not speak SMTP as expected',
}

/**
 * Why a mail did not go out. The words of a mail server quote addresses and sometimes the log-in, so nothing of
 * what it said is kept but its numbers.
 */
export class MailFailure extends Error {
  override name = 'MailFailure'

  static of(error: unknown): MailFailure {
    if (error instanceof MailFailure) return error
    const { code, responseCode } = (error ?? {}) as SmtpError
    const sign = typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined
    const status = typeof responseCode === 'number' ? responseCode : undefined
    const reason = (sign && REASONS[sign]) ?? 'The mail server cannot be reached or broke off'
    const detail = status ?? sign
    return new MailFailure(detail === undefined ? reason : `${reason} (${detail})`)
  }
}
