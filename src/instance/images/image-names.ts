import { hash } from 'node:crypto'
import type { StoredImage } from '../public/instance-data.ts'
import { EMBLEM_VERSION } from './draw-emblem.ts'
import { IMAGE_SIZES, type ImageKind } from './image-sizes.ts'

export interface ImageName {
  kind: ImageKind
  size: string
  /** Of the bytes, or what stands for them in the name of a picture that is drawn. */
  hash: string
}

const NAME = /^(thumbnail|icon)-(\d{2,4}x\d{2,4})-([0-9a-f]{32})\.(?:png|jpg)$/

/** The file names change with the bytes, so that a copy may be kept for ever. */
export function fileName({ kind, size, hash }: ImageName, contentType: string): string {
  return `${kind}-${size}-${hash}.${contentType === 'image/jpeg' ? 'jpg' : 'png'}`
}

/** Undefined for what cannot be the name of a file of ours. */
export function parseFileName(text: string): ImageName | undefined {
  const [, kind, size, hash] = NAME.exec(text) ?? []
  if (kind === undefined || size === undefined || hash === undefined) return undefined
  if (!IMAGE_SIZES[kind as ImageKind].some(({ name }) => name === size)) return undefined
  return { kind: kind as ImageKind, size, hash }
}

export const DEFAULT_HASH = hash('sha256', `emblem ${EMBLEM_VERSION}`, 'hex').slice(0, 32)

/** Of the emblem in the shape of a thumbnail. */
const DEFAULT_BLURHASH = 'UnD]*nkC0KWBoLj[WWaeIUay%Mj[bHayjZkB'

/** What a server without a picture of its own shows. */
export const DEFAULT_IMAGES: Readonly<Record<ImageKind, StoredImage>> = {
  thumbnail: { files: drawnFiles('thumbnail'), blurhash: DEFAULT_BLURHASH, description: '' },
  icon: { files: drawnFiles('icon'), blurhash: '', description: '' },
}

function drawnFiles(kind: ImageKind): Record<string, string> {
  return Object.fromEntries(
    IMAGE_SIZES[kind].map(({ name: size }) => [size, fileName({ kind, size, hash: DEFAULT_HASH }, 'image/png')]),
  )
}

/** Where the files are, below the address of the server. */
export const IMAGES_PATH = '/media/instance'
