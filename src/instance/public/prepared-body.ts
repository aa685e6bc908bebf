import { promisify } from 'node:util'
import type { Coding } from '../../platform/http/answer/compression.ts'
import { compress, MIN_COMPRESSED_BYTES } from '../../platform/http/answer/compression.ts'
import { weakETag } from '../../platform/http/answer/etag.ts'
import { JSON_TYPE } from '../../platform/http/answer/send-hook.ts'

/** What travels: the bytes and the headers that say what they are, written out. */
export interface PreparedAnswer {
  bytes: Buffer
  /** `content-type: …\r\n…` */
  head: string
}

/** An answer as it travels: bytes, their tag, and their compressed forms once somebody asked for them. */
export class PreparedBody {
  readonly etag: string
  /** HTTP date, to the second; null where the document has no time of its own. */
  readonly lastModified: string | null
  readonly isCompressible: boolean
  readonly plain: PreparedAnswer
  readonly #packed: Partial<Record<Coding, PreparedAnswer | Promise<PreparedAnswer>>> = {}

  constructor(bytes: Buffer, changedAtMs: number | null = null, contentType = JSON_TYPE) {
    this.etag = weakETag(bytes)
    this.lastModified = changedAtMs === null ? null : new Date(changedAtMs).toUTCString()
    this.isCompressible = bytes.length >= MIN_COMPRESSED_BYTES
    this.plain = { bytes, head: `content-type: ${contentType}\r\n` }
  }

  /** Compressed once, however many ask for it at the same time. */
  packed(coding: Coding): PreparedAnswer | Promise<PreparedAnswer> {
    const known = this.#packed[coding]
    if (known !== undefined) return known
    const packing = pack(this.plain.bytes, coding).then(
      (bytes) => {
        const answer = { bytes, head: `${this.plain.head}content-encoding: ${coding}\r\n` }
        this.#packed[coding] = answer
        return answer
      },
      (error: unknown) => {
        this.#packed[coding] = undefined
        throw error
      },
    )
    this.#packed[coding] = packing
    return packing
  }
}

const pack = promisify(compress)
