import { Type } from 'typebox'
import type { StoredImage } from '../public/instance-data.ts'
import { DEFAULT_IMAGES, IMAGES_PATH } from './image-names.ts'
import { IMAGE_SIZES, THUMBNAIL_1X, THUMBNAIL_2X } from './image-sizes.ts'

const Url = Type.String({ format: 'uri' })

export const ThumbnailDocument = Type.Object(
  {
    url: Url,
    blurhash: Type.String(),
    versions: Type.Object({ '@1x': Url, '@2x': Url }),
    description: Type.String(),
  },
  { $id: 'InstanceThumbnail' },
)

export const IconDocument = Type.Array(Type.Object({ src: Url, size: Type.String() }, { $id: 'InstanceIcon' }))

export function thumbnailDocument(stored: StoredImage | null, baseUrl: string) {
  const { files, blurhash, description } = stored ?? DEFAULT_IMAGES.thumbnail
  const url = imageUrl(baseUrl, files[THUMBNAIL_1X] as string)
  return {
    url,
    blurhash,
    versions: { '@1x': url, '@2x': imageUrl(baseUrl, files[THUMBNAIL_2X] as string) },
    description,
  }
}

export function iconDocument(stored: StoredImage | null, baseUrl: string) {
  const { files } = stored ?? DEFAULT_IMAGES.icon
  return IMAGE_SIZES.icon.map(({ name }) => ({ src: imageUrl(baseUrl, files[name] as string), size: name }))
}

export function imageUrl(baseUrl: string, fileName: string): string {
  return `${baseUrl}${IMAGES_PATH}/${fileName}`
}
