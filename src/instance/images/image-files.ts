import type { Database } from '../../platform/storage/database.ts'
import { drawEmblem } from './draw-emblem.ts'
import { DEFAULT_HASH, DEFAULT_IMAGES, type ImageName, parseFileName } from './image-names.ts'
import { IMAGE_SIZES } from './image-sizes.ts'
import { encodePng } from './png.ts'
import { readImageBytes, readImages } from './store-images.ts'

export interface ImageFile {
  contentType: string
  bytes: Buffer
}

export type FoundImage = ImageFile | { movedTo: string } | null

const MAX_KEPT_BYTES = 32 * 1024 * 1024

/** The bytes behind the names: uploaded ones from the database, the shipped ones drawn when first asked for. */
export class ImageFiles {
  readonly #db: Database
  /** Least recently used first. What is no longer current stays until there is no room: its name still means it. */
  readonly #kept = new Map<string, ImageFile>()
  #keptBytes = 0

  constructor(db: Database) {
    this.#db = db
  }

  /** Null for what never was a name; where the picture was replaced, the name of the one that has its place. */
  async find(fileName: string): Promise<FoundImage> {
    const kept = this.#recall(fileName)
    if (kept !== undefined) return kept
    const name = parseFileName(fileName)
    if (name === undefined) return null
    const file = name.hash === DEFAULT_HASH ? draw(name) : await readImageBytes(this.#db, name)
    if (file !== undefined) return this.#keep(fileName, file)
    const current = (await readImages(this.#db))[name.kind] ?? DEFAULT_IMAGES[name.kind]
    return { movedTo: current.files[name.size] as string }
  }

  #recall(fileName: string): ImageFile | undefined {
    const kept = this.#kept.get(fileName)
    if (kept === undefined) return undefined
    this.#kept.delete(fileName)
    this.#kept.set(fileName, kept)
    return kept
  }

  #keep(fileName: string, file: ImageFile): ImageFile {
    if (this.#kept.has(fileName)) return this.#kept.get(fileName) as ImageFile
    this.#kept.set(fileName, file)
    this.#keptBytes += file.bytes.length
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) break
      this.#kept.delete(oldest)
      this.#keptBytes -= bytes.length
    }
    return file
  }
}

function draw({ kind, size }: ImageName): ImageFile {
  const { width, height } = IMAGE_SIZES[kind].find(({ name }) => name === size) as { width: number; height: number }
  return { contentType: 'image/png', bytes: encodePng(drawEmblem(width, height)) }
}
