import { statfsSync } from 'node:fs'

export const MEMORY = '/dev/shm'

/** A directory in memory, on systems that have one with so much room; else null. */
export function memoryDirectory(roomBytes: number): string | null {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, process.availableMemory()) >= roomBytes ? MEMORY : null
  } catch {
    return null
  }
}
