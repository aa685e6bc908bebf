import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CIDR,
  DOMAIN,
  DOMAIN_AND_PORT,
  EMAIL,
  HOST,
  isLoopback,
  LANGUAGE,
  MAILBOX,
  ORIGIN,
  POSTGRES_URL,
  SMTP_URL,
  WEB_URL,
} from './formats.ts'

interface Format {
  parse(text: string): string | undefined
}

function accepts(format: Format, texts: string[]): void {
  for (const text of texts) assert.notEqual(format.parse(text), undefined, text)
}

function refuses(format: Format, texts: string[]): void {
  for (const text of ['', ' ', ...texts]) assert.equal(format.parse(text), undefined, text)
}

test('a host is an address or a name, never an address with a port or brackets', () => {
  accepts(HOST, ['127.0.0.1', '::1', '::', 'localhost', 'kb.example.org'])
  refuses(HOST, ['[::1]', '127.0.0.1:80', 'a b', 'http://x', '999.1.1.1', '-a.org', 'a..b'])
})

test('a range has a prefix that fits its family', () => {
  accepts(CIDR, ['10.0.0.0/8', '10.1.2.3', 'fd00::/8', '::1', '::ffff:10.0.0.0/104'])
  refuses(CIDR, ['10.0.0.0/33', 'fd00::/129', '10.0.0/8', 'loopback', '10.0.0.0/', 'fe80::1%eth0', '10.0.0.0/8/8'])
})

test('a base address is kept as an origin and has nothing behind it', () => {
  assert.equal(ORIGIN.parse('https://KB.example.org:443/'), 'https://kb.example.org')
  assert.equal(ORIGIN.parse('http://localhost:4040'), 'http://localhost:4040')
  refuses(ORIGIN, [
    'kb.example.org',
    'ftp://x.org',
    'https://x.org/path',
    'https://x.org/?',
    'https://x.org/#a',
    'https://u:p@x.org',
  ])
})

test('a database address is one of PostgreSQL, with a socket too', () => {
  accepts(POSTGRES_URL, [
    'postgres://h/db',
    'postgresql://u:p@h:5432/db?sslmode=require',
    'postgres:///db?host=/run/postgresql',
  ])
  refuses(POSTGRES_URL, ['mysql://h/db', 'postgres:h/db', 'h/db', './data.db'])
})

test('a database address in whose password a sign stands as it is, is refused, whatever it could be read as', () => {
  accepts(POSTGRES_URL, [
    'postgres://u:1%2F2%23%403@h/db',
    'postgres://u:1@2@h/db',
    'postgres://h/db?user=ada@example.org',
  ])
  refuses(POSTGRES_URL, [
    'postgres://u:1/2@h/db',
    'postgres://u:p/2@h/db',
    'postgres://u:1#2@h/db',
    'postgres://u:p#2@h/db',
    'postgres://u:1?2@h/db',
    'postgres://u?1:2@h/db',
  ])
})

test('a mail server in whose password a sign stands as it is, is refused: nothing could be sent, and the password be shown', () => {
  accepts(SMTP_URL, ['smtp://u:1%25%2F2@h', 'smtp://u@example.org:p@h/', 'smtp://h:25/?require_tls=false'])
  refuses(SMTP_URL, [
    'smtp://u:1%@h',
    'smtp://u%:1@h',
    'smtp://u:1/2@h',
    'smtp://u:1#2@h',
    'smtp://u/1:2@h',
    'smtp://u:1?2@h',
  ])
})

test('a domain is kept in lower case and in its ASCII form', () => {
  assert.equal(DOMAIN.parse('Example.ORG'), 'example.org')
  assert.equal(DOMAIN.parse('にゃん.example'), 'xn--r9j5b5b.example')
  refuses(DOMAIN, ['http://x.org', 'x.org/', 'a b.org', '10.0.0.1', 'x.org:80', '*.org'])
  assert.deepEqual(['EN', 'pt-br', 'en_US', 'zh-hant-tw'].map(LANGUAGE.parse), ['en', 'pt-BR', 'en-US', 'zh-Hant-TW'])
  refuses(LANGUAGE, ['', 'e', 'engl', 'en-', 'en US', 'en-US-x-y-z'])
  assert.equal(DOMAIN_AND_PORT.parse('kb.example.org:8443'), 'kb.example.org:8443')
  refuses(DOMAIN_AND_PORT, ['kb.example.org:99999', 'kb.example.org:', ':80'])
})

test('mail and web addresses are told from other texts', () => {
  accepts(EMAIL, ['ada@example.org', 'admin@localhost.localdomain'])
  refuses(EMAIL, ['ada', '@example.org', 'a b@example.org', 'Ada <ada@example.org>'])
  accepts(MAILBOX, ['ada@example.org', 'Commonplace <noreply@example.org>'])
  refuses(MAILBOX, ['Commonplace', '<a@b>, <c@d>'])
  accepts(SMTP_URL, ['smtp://mail.example.org', 'smtps://u:p@mail.example.org:465', 'smtp://a.org?require_tls=true'])
  refuses(SMTP_URL, ['mail.example.org', 'http://mail.example.org'])
  for (const query of ['require_tls=yes', 'require_tls', 'tls=true', 'require_tls=true&require_tls=false'])
    refuses(SMTP_URL, [`smtp://mail.example.org?${query}`])
  accepts(WEB_URL, ['https://example.org', 'http://127.0.0.1:5000/v1?a=@b'])
  refuses(WEB_URL, ['example.org', 'javascript:alert(1)', 'file:///etc/passwd'])
  refuses(WEB_URL, ['https://ada:pw@example.org', 'https://ada@example.org', 'https://:pw@example.org'])
})

test('loopback means this machine and nothing that only looks like it', () => {
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost']) assert.equal(isLoopback(host), true, host)
  for (const host of ['0.0.0.0', '::', '127.example.org', 'localhost.example.org', '10.0.0.1'])
    assert.equal(isLoopback(host), false, host)
})
