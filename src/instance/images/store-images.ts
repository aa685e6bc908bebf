import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { StoredImage } from '../public/instance-data.ts'
import '../tables.ts'
import type { DerivedImage } from './derive-images.ts'
import { fileName, type ImageName } from './image-names.ts'
import { IMAGE_SIZES, type ImageKind } from './image-sizes.ts'

/** What was uploaded, without the bytes. */
export async function readImages(reader: Reader): Promise<Record<ImageKind, StoredImage | null>> {
  const rows = await reader.query
    .selectFrom('instance_images')
    .select(['kind', 'size', 'hash', 'content_type', 'blurhash', 'description'])
    .execute()
  const images: Record<ImageKind, StoredImage | null> = { thumbnail: null, icon: null }
  for (const kind of ['thumbnail', 'icon'] as const) {
    const own = new Map(rows.filter((row) => row.kind === kind).map((row) => [row.size, row]))
    const [first] = own.values()
    // A version that knew other sizes left something else behind: as good as nothing.
    if (first === undefined || !IMAGE_SIZES[kind].every(({ name }) => own.has(name))) continue
    const files = Object.fromEntries(
      [...own].map(([size, row]) => [size, fileName({ kind, size, hash: row.hash }, row.content_type)]),
    )
    images[kind] = { files, blurhash: first.blurhash ?? '', description: first.description }
  }
  return images
}

export async function readImageBytes(
  reader: Reader,
  { kind, size, hash }: ImageName,
): Promise<{ contentType: string; bytes: Buffer } | undefined> {
  const row = await reader.query
    .selectFrom('instance_images')
    .select(['content_type', 'bytes'])
    .where('kind', '=', kind)
    .where('size', '=', size)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row && { contentType: row.content_type, bytes: Buffer.from(row.bytes) }
}

export async function replaceImage(
  tx: Transaction,
  kind: ImageKind,
  image: DerivedImage & { description: string },
  now: Micros,
): Promise<void> {
  await deleteImage(tx, kind)
  const sizes = new Map(IMAGE_SIZES[kind].map((size) => [size.name, size]))
  for (const { size, contentType, bytes, hash } of image.files) {
    const { width, height } = sizes.get(size) as { width: number; height: number }
    await tx.query
      .insertInto('instance_images')
      .values({
        kind,
        size,
        content_type: contentType,
        width,
        height,
        hash,
        blurhash: image.blurhash,
        description: image.description,
        bytes,
        created_at: now,
      })
      .execute()
  }
}

/** Whether there was one. */
export async function deleteImage(tx: Transaction, kind: ImageKind): Promise<boolean> {
  const rows = await tx.query.deleteFrom('instance_images').where('kind', '=', kind).returning('size').execute()
  return rows.length > 0
}
