import { hash } from 'node:crypto'
import type { User } from './user.ts'

export type IconProvider = 'local' | 'gravatar'

const CELLS = 5
const SIZE = 8
const MARGIN = 4
const SIDE = CELLS * SIZE + 2 * MARGIN

/** Where the icon of a user is. An anonymized user is never shown to the third party. */
export function iconUrl(
  user: Pick<User, 'id' | 'email' | 'anonymizedAt'>,
  baseUrl: string,
  provider: IconProvider,
): string {
  if (provider === 'gravatar' && user.anonymizedAt === null) {
    return `https://www.gravatar.com/avatar/${hash('md5', user.email, 'hex')}?s=48&d=retro`
  }
  return `${baseUrl}/api/v2/users/${user.id}/icon`
}

/**
 * A symmetric pattern made from the id alone: it says nothing about the person, survives anonymization, and looks the
 * same for an id that nobody has.
 */
export function drawIcon(id: string): string {
  const bytes = hash('sha256', id.toLowerCase(), 'buffer')
  const half = Math.ceil(CELLS / 2)
  let path = ''
  for (let y = 0; y < CELLS; y++) {
    for (let x = 0; x < CELLS; x++) {
      const column = x < half ? x : CELLS - 1 - x
      if (((bytes[y * half + column] as number) & 1) === 0) continue
      path += `M${MARGIN + x * SIZE} ${MARGIN + y * SIZE}h${SIZE}v${SIZE}h-${SIZE}z`
    }
  }
  const hue = (((bytes[30] as number) << 8) | (bytes[31] as number)) % 360
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIDE} ${SIDE}" width="${SIDE}" height="${SIDE}">` +
    `<rect width="${SIDE}" height="${SIDE}" fill="hsl(${hue} 40% 92%)"/>` +
    `<path d="${path}" fill="hsl(${hue} 55% 42%)"/></svg>`
  )
}
