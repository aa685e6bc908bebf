export type ImageKind = 'thumbnail' | 'icon'

export interface ImageSize {
  /** As it is written in names and documents: `1200x630`. */
  name: string
  width: number
  height: number
}

function size(width: number, height: number): ImageSize {
  return { name: `${width}x${height}`, width, height }
}

/** In the order in which the documents list them. */
export const IMAGE_SIZES: Readonly<Record<ImageKind, readonly ImageSize[]>> = {
  thumbnail: [size(1200, 630), size(2400, 1260)],
  icon: [36, 48, 72, 96, 144, 192, 256, 384, 512].map((side) => size(side, side)),
}

/** What the two versions of the thumbnail are called. */
export const THUMBNAIL_1X = '1200x630'
export const THUMBNAIL_2X = '2400x1260'
