/**
 * The picture of a server that has none of its own: a page with a few lines and a bookmark. It is drawn instead of
 * shipped: eleven files weigh more than these lines.
 */
import type { IndexedPicture } from './png.ts'

interface Bar {
  /** Left, top, right, bottom and radius of the corners, in parts of the emblem's side. */
  place: readonly [left: number, top: number, right: number, bottom: number, radius: number]
  colour: number
}

const GROUND = 0x1f3d4d
const PAPER = 0xf7f3e8
const INK = 0x8a98a3
const MARK = 0xd9653b

const BARS: readonly Bar[] = [
  { place: [0.2, 0.14, 0.8, 0.86, 0.06], colour: PAPER },
  { place: [0.3, 0.44, 0.7, 0.495, 0.0275], colour: INK },
  { place: [0.3, 0.57, 0.7, 0.625, 0.0275], colour: INK },
  { place: [0.3, 0.7, 0.54, 0.755, 0.0275], colour: INK },
  { place: [0.58, 0.14, 0.69, 0.36, 0.012], colour: MARK },
]
/** Raised when the drawing changes: it is part of the names of the files. */
export const EMBLEM_VERSION = 1
// Edges are drawn in so many steps, which keeps the palette small.
const STEPS = 16

/** In the middle of whatever shape is asked for. */
export function drawEmblem(width: number, height: number): IndexedPicture {
  const canvas = new Canvas(width, height, GROUND)
  const side = Math.min(width, height)
  const left = (width - side) / 2
  const top = (height - side) / 2
  for (const { place, colour } of BARS) {
    const [x1, y1, x2, y2, radius] = place.map((part) => part * side) as [number, number, number, number, number]
    canvas.fill({ x1: left + x1, y1: top + y1, x2: left + x2, y2: top + y2, radius }, colour)
  }
  return { width, height, pixels: canvas.pixels, palette: canvas.palette }
}

interface Box {
  x1: number
  y1: number
  x2: number
  y2: number
  radius: number
}

class Canvas {
  readonly pixels: Uint8Array
  readonly palette: number[]
  readonly #width: number
  readonly #height: number

  constructor(width: number, height: number, ground: number) {
    this.#width = width
    this.#height = height
    this.pixels = new Uint8Array(width * height)
    this.palette = [ground]
  }

  fill(box: Box, colour: number): void {
    const whole = this.#indexOf(colour)
    for (let y = Math.max(0, Math.floor(box.y1)); y < Math.min(this.#height, Math.ceil(box.y2)); y++) {
      for (let x = Math.max(0, Math.floor(box.x1)); x < Math.min(this.#width, Math.ceil(box.x2)); x++) {
        const cover = Math.round(coverage(box, x + 0.5, y + 0.5) * STEPS) / STEPS
        if (cover === 0) continue
        const at = y * this.#width + x
        const under = this.palette[this.pixels[at] as number] as number
        this.pixels[at] = cover === 1 ? whole : this.#indexOf(mix(under, colour, cover))
      }
    }
  }

  #indexOf(colour: number): number {
    const known = this.palette.indexOf(colour)
    return known === -1 ? this.palette.push(colour) - 1 : known
  }
}

/** How much of the pixel around the point lies within the rounded box. */
function coverage({ x1, y1, x2, y2, radius }: Box, x: number, y: number): number {
  const dx = Math.abs(x - (x1 + x2) / 2) - (x2 - x1) / 2 + radius
  const dy = Math.abs(y - (y1 + y2) / 2) - (y2 - y1) / 2 + radius
  const distance = Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius
  return Math.max(0, Math.min(1, 0.5 - distance))
}

function mix(under: number, over: number, cover: number): number {
  let mixed = 0
  for (const shift of [16, 8, 0]) {
    const [below, above] = [(under >> shift) & 0xff, (over >> shift) & 0xff]
    mixed |= Math.round(below + (above - below) * cover) << shift
  }
  return mixed
}
