import { closeSync, fsyncSync, openSync, renameSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../errors/app-error.ts'
import { makeDirectory } from '../storage/make-directory.ts'
import { INTERRUPTS } from '../supervisor/interrupts.ts'
import { fileTrouble } from './backup-errors.ts'

/**
 * Lets `write` fill a temporary file beside the target and gives it the target's name only when it is complete and on
 * disk. Whoever sees the name sees a whole file.
 */
export async function placeFile<T>(
  target: string,
  options: { force: boolean },
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  refuseExisting(target, options)
  const temporary = `${target}.partial-${process.pid}`
  try {
    makeDirectory(dirname(target))
  } catch (error) {
    throw fileTrouble(target, 'written', error)
  }
  const cleanUp = removeOnInterrupt(['', '-journal', '-wal', '-shm'].map((end) => temporary + end))
  try {
    rmSync(temporary, { force: true })
    const result = await write(temporary)
    refuseExisting(target, options)
    flushFile(temporary)
    renameSync(temporary, target)
    flushDirectory(dirname(target))
    return result
  } catch (error) {
    throw fileTrouble(target, 'written', error)
  } finally {
    cleanUp()
  }
}

function refuseExisting(target: string, { force }: { force: boolean }): void {
  const there = statSync(target, { throwIfNoEntry: false })
  if (there === undefined || (force && there.isFile())) return
  throw new AppError('failed_precondition', `${target} ${whyNot(there)}`)
}

/** What is no file is not written to but replaced by its name, which takes /dev/null or /dev/stdout from the whole machine. */
function whyNot(there: Stats): string {
  if (there.isDirectory()) return 'is a directory: name a file'
  if (there.isFile()) return 'exists already: choose another name or add --force'
  return 'is no file but a device, pipe or socket: name a file'
}

export function flushFile(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Without it a power cut may forget the new name although the file is on disk. */
export function flushDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** What is half done holds every secret of the server, and nobody would ever look for it. The answer removes it, too. */
export function removeOnInterrupt(leftovers: readonly string[]): () => void {
  const remove = () => {
    for (const leftover of leftovers) rmSync(leftover, { recursive: true, force: true })
  }
  const interrupt = (signal: NodeJS.Signals) => {
    remove()
    forget()
    process.kill(process.pid, signal)
  }
  const forget = () => {
    for (const signal of INTERRUPTS) process.removeListener(signal, interrupt)
  }
  for (const signal of INTERRUPTS) process.once(signal, interrupt)
  return () => {
    forget()
    remove()
  }
}
