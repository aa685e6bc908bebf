import { statSync } from 'node:fs'

export type FileState = 'there' | 'missing' | { unreadable: string }

/** Whether something is at this path; not the same as missing: that it cannot be seen, with the system's word for why. */
export function fileState(path: string): FileState {
  try {
    statSync(path)
    return 'there'
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? 'missing' : { unreadable: code }
  }
}
