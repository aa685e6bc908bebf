/**
 * Secrets that a machine makes and a machine sends back. They hold 128 random bits or more, so a plain SHA-256 is
 * enough to store them (a password needs a slow hash; see users/sign-in/password.ts), and finding one by its hash tells an
 * attacker nothing through timing: the compared bytes cannot be chosen.
 */
import { hash, randomBytes } from 'node:crypto'

export interface MintedSecret {
  /** Shown once, then forgotten. */
  plain: string
  hash: string
  last4: string
}

export interface MintedToken extends MintedSecret {
  publicPortion: string
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export const API_KEY = /^[0-9a-fA-F]{32}$/
export const APPLICATION_KEY = /^[0-9a-fA-F]{40}$/
/** What can stand behind `Bearer`: our tokens, session tokens, and the token an operator chose. */
export const BEARER_TOKEN = /^[A-Za-z0-9_-]{32,128}$/
/** A token in this form is looked up among the sessions and nowhere else, so an operator may not choose one. */
export const SESSION_TOKEN = /^ses_[A-Za-z0-9_-]{43}$/

export function hashSecret(plain: string): string {
  return hash('sha256', plain, 'hex')
}

export function keepSecret(plain: string): MintedSecret {
  return { plain, hash: hashSecret(plain), last4: plain.slice(-4) }
}

export function mintAccessToken(): MintedToken {
  const publicPortion = randomText(22)
  return { ...keepSecret(`pat_${publicPortion}_${randomBytes(32).toString('base64url')}`), publicPortion }
}

/** A token of the operator's own choice. Its public part is made up: no piece of the secret may be shown. */
export function keepAccessToken(plain: string): MintedToken {
  return { ...keepSecret(plain), publicPortion: randomText(22) }
}

export function mintApiKey(): MintedSecret {
  return keepSecret(randomBytes(16).toString('hex'))
}

export function mintApplicationKey(): MintedSecret {
  return keepSecret(randomBytes(20).toString('hex'))
}

export function mintSessionToken(): MintedSecret {
  return keepSecret(`ses_${randomBytes(32).toString('base64url')}`)
}

export function mintCsrfToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The short public id of an organization: ten lower-case letters and digits. */
export function mintPublicId(): string {
  return randomText(10, ALPHABET.slice(26))
}

function randomText(length: number, alphabet = ALPHABET): string {
  // Bytes at or above the largest multiple of the alphabet's size would favour its first letters.
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}
