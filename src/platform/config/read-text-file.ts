import { readFileSync, statSync } from 'node:fs'

const MOST_BYTES = 1_048_576

export type TextFile = { text: string } | { missing: boolean; wrong: string }

/** A regular file of UTF-8 text, or why it cannot be read, as the end of a sentence. */
export function readTextFile(path: string): TextFile {
  try {
    const info = statSync(path)
    if (info.isDirectory()) return refused('is a folder, not a file')
    // Reading a pipe or a device may never end.
    if (!info.isFile()) return refused('is not a regular file')
    if (info.size > MOST_BYTES) return refused(`is larger than ${MOST_BYTES} bytes`)
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)) }
  } catch (error) {
    return explain(error)
  }
}

function refused(wrong: string): TextFile {
  return { missing: false, wrong }
}

function explain(error: unknown): TextFile {
  const code = String((error as NodeJS.ErrnoException).code)
  if (code === 'ENOENT' || code === 'ENOTDIR') return { missing: true, wrong: 'does not exist' }
  if (code === 'ERR_INVALID_ARG_VALUE') return refused('has a NUL character in its path')
  if (code === 'EACCES' || code === 'EPERM') return refused('may not be read by this user')
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return refused('is not UTF-8 text')
  return refused(`cannot be read (${code})`)
}
