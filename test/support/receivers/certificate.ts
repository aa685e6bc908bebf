/** Certificates for receivers in tests, made when they are needed: no key lies in the repository, no tool is called. */
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

export interface Certificate {
  cert: string
  key: string
}

const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'))
const COMMON_NAME = objectId('550403')
const BASIC_CONSTRAINTS = objectId('551d13')
const SUBJECT_ALT_NAME = objectId('551d11')
const VALID_FROM = '20200101000000Z'
const VALID_UNTIL = '20991231235959Z'

/** For these names and addresses, signed by the issuer; by itself where none is given, and then an authority. */
export function createCertificate(names: readonly string[], issuer?: Certificate): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = nameOf(names[0] ?? 'test')
  const issuerName = issuer === undefined ? subject : subjectOf(issuer.cert)
  const issuerKey = issuer === undefined ? privateKey : createPrivateKey(issuer.key)
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    issuerName,
    sequence(time(VALID_FROM), time(VALID_UNTIL)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions(names, issuer === undefined))),
  )
  return { cert: pemOf(signed(body, issuerKey)), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

function extensions(names: readonly string[], isAuthority: boolean): Buffer[] {
  const alternatives = names.map((name) =>
    isIP(name) === 0 ? tagged(0x82, Buffer.from(name)) : tagged(0x87, addressBytes(name)),
  )
  return [
    sequence(BASIC_CONSTRAINTS, octets(isAuthority ? sequence(tagged(0x01, Buffer.from([0xff]))) : sequence())),
    ...(alternatives.length === 0 ? [] : [sequence(SUBJECT_ALT_NAME, octets(sequence(...alternatives)))]),
  ]
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  if (address !== '::1') throw new Error(`Cannot certify ${address}`)
  return Buffer.from([...new Array<number>(15).fill(0), 1])
}

function signed(body: Buffer, key: KeyObject): Buffer {
  const signature = sign('sha256', body, key)
  return sequence(body, ECDSA_WITH_SHA256, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])))
}

function nameOf(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(commonName)))))
}

/** The subject of a certificate that was made here: the sixth part of its body. */
function subjectOf(pem: string): Buffer {
  const der = Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64')
  let at = contentAt(der, contentAt(der, 0))
  for (let part = 0; part < 5; part++) at = endOf(der, at)
  return der.subarray(at, endOf(der, at))
}

function contentAt(der: Buffer, at: number): number {
  const length = der[at + 1] as number
  return at + 2 + (length < 0x80 ? 0 : length & 0x7f)
}

function endOf(der: Buffer, at: number): number {
  const start = contentAt(der, at)
  const length = der[at + 1] as number
  return start + (length < 0x80 ? length : der.readUIntBE(at + 2, length & 0x7f))
}

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) as string[]
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes)
}

function octets(content: Buffer): Buffer {
  return tagged(0x04, content)
}

function objectId(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

function time(text: string): Buffer {
  return tagged(0x18, Buffer.from(text))
}
