import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import { refuseProblems, textProblem } from '../invalid.ts'
import type { StoredImage } from '../public/instance-data.ts'
import { deriveImage } from './derive-images.ts'
import type { ImageKind } from './image-sizes.ts'
import { deleteImage, readImages, replaceImage } from './store-images.ts'

export interface ImageServiceOptions {
  db: Database
  clock: Clock
  changes: InstanceChanges
}

export interface Upload {
  bytes: Buffer
  /** Alternative text. */
  description: string
}

const LONGEST_DESCRIPTION = 200

/** Who may call is decided before: `org_management`. */
export class ImageService {
  readonly #options: ImageServiceOptions

  constructor(options: ImageServiceOptions) {
    this.#options = options
  }

  async put(principal: Principal, kind: ImageKind, upload: Upload, client?: ClientInfo): Promise<StoredImage> {
    const { clock, changes } = this.#options
    const { bytes, description } = upload
    refuseProblems([textProblem('description', description, { maxLength: LONGEST_DESCRIPTION })])
    const derived = await deriveImage(kind, bytes)
    return changes.write(async (tx) => {
      const before = (await readImages(tx))[kind]
      await replaceImage(tx, kind, { ...derived, description }, clock.now())
      const after = (await readImages(tx))[kind] as StoredImage
      const target = { type: 'instance_images', id: kind }
      const change = {
        files: { old: namesOf(before), new: namesOf(after) },
        description: { old: before?.description, new: description },
      }
      await changes.record(tx, principal, { action: 'instance_image.replaced', target, changes: change }, client)
      return after
    })
  }

  /** The shipped picture takes its place. */
  async delete(principal: Principal, kind: ImageKind, client?: ClientInfo): Promise<void> {
    const { changes } = this.#options
    await changes.write(async (tx) => {
      const before = (await readImages(tx))[kind]
      if (!(await deleteImage(tx, kind))) return
      const target = { type: 'instance_images', id: kind }
      const change = { files: { old: namesOf(before) } }
      await changes.record(tx, principal, { action: 'instance_image.deleted', target, changes: change }, client)
    })
  }
}

function namesOf(image: StoredImage | null): string[] {
  return image === null ? [] : Object.values(image.files)
}
