/**
 * Turns an uploaded picture into the files that are served. The library reads the head of the picture first and is asked
 * to decode it only when its size is bearable; of all that it could read it is left with four formats.
 */
import { hash } from 'node:crypto'
import { AppError } from '../../platform/errors/app-error.ts'
import { invalidField } from '../invalid.ts'
import { blurhash } from './blurhash.ts'
import { IMAGE_SIZES, type ImageKind, type ImageSize } from './image-sizes.ts'

export interface DerivedImage {
  files: DerivedFile[]
  blurhash: string
}

export interface DerivedFile {
  size: string
  contentType: string
  bytes: Buffer
  hash: string
}

type Sharp = typeof import('sharp')['default']

const LOADERS = ['Jpeg', 'Png', 'Nsgif', 'Webp'].map((format) => `VipsForeignLoad${format}Buffer`)
/** As many as the largest photograph of a telephone has, about. */
const MAX_PIXELS = 50_000_000
const MAX_SIDE = 16_384
const MAX_SECONDS = 20
// As small as it gets without changing what the hash shows.
const SAMPLE = { width: 64, height: 34 }

let loaded: Promise<Sharp> | undefined
// A picture being worked on takes memory by the dozen megabytes: one at a time.
let last: Promise<unknown> = Promise.resolve()

export function deriveImage(kind: ImageKind, upload: Buffer): Promise<DerivedImage> {
  const mine = last.then(() => derive(kind, upload))
  last = mine.catch(() => {})
  return mine
}

async function derive(kind: ImageKind, upload: Buffer): Promise<DerivedImage> {
  loaded ??= load()
  const sharp = await loaded
  const { hasAlpha } = await readHead(sharp, upload)
  // Photographs are ten times as large as PNG; what has seen-through places, or is meant to be an icon, needs it.
  const type = kind === 'thumbnail' && !hasAlpha ? 'jpeg' : 'png'
  try {
    const files: DerivedFile[] = []
    for (const size of IMAGE_SIZES[kind]) files.push(await resize(sharp, upload, size, type))
    return {
      files,
      blurhash: kind === 'thumbnail' ? blurhash(await sample(sharp, upload), SAMPLE.width, SAMPLE.height) : '',
    }
  } catch (cause) {
    throw badImage('cannot be decoded: it is damaged or incomplete', cause)
  }
}

async function load(): Promise<Sharp> {
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: LOADERS })
  return sharp
}

/** Reads no more than the head, and refuses what would take too much to decode. */
async function readHead(sharp: Sharp, upload: Buffer): Promise<{ hasAlpha: boolean }> {
  if (upload.length === 0) throw badImage('is empty')
  const head = await open(sharp, upload, false)
    .metadata()
    .catch((cause: unknown) => {
      throw badImage('is not a JPEG, PNG, GIF or WebP picture', cause)
    })
  const { width, height } = head
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS) {
    throw badImage(
      `has ${width} x ${height} pixels, which is too many: at most ${MAX_SIDE} to a side and ${MAX_PIXELS / 1_000_000} million in all`,
    )
  }
  return { hasAlpha: head.hasAlpha === true }
}

async function resize(sharp: Sharp, upload: Buffer, size: ImageSize, type: 'jpeg' | 'png'): Promise<DerivedFile> {
  const picture = open(sharp, upload).autoOrient().resize(size.width, size.height, { fit: 'cover' })
  const bytes = await (type === 'jpeg' ? picture.jpeg({ quality: 85 }) : picture.png()).toBuffer()
  return { size: size.name, contentType: `image/${type}`, bytes, hash: hash('sha256', bytes, 'hex').slice(0, 32) }
}

function sample(sharp: Sharp, upload: Buffer): Promise<Buffer> {
  return open(sharp, upload)
    .autoOrient()
    .resize(SAMPLE.width, SAMPLE.height, { fit: 'cover' })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .raw()
    .toBuffer()
}

/** The first picture of a moving one. */
function open(sharp: Sharp, upload: Buffer, limitInputPixels: number | false = MAX_PIXELS): ReturnType<Sharp> {
  return sharp(upload, { limitInputPixels, failOn: 'error', pages: 1 }).timeout({ seconds: MAX_SECONDS })
}

function badImage(text: string, cause?: unknown): AppError {
  const { message, details } = invalidField('image', text, 'ERR_IMAGE')
  return new AppError('unprocessable', message, { details, cause })
}
