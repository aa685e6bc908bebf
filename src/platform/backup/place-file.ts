import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../errors/app-error.ts'
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
    mkdirSync(dirname(target), { recursive: true })
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
  if (!existsSync(target)) return
  const isDirectory = statSync(target).isDirectory()
  if (force && !isDirectory) return
  throw new AppError(
    'failed_precondition',
    isDirectory
      ? `${target} is a directory: name a file`
      : `${target} exists already: choose another name or add --force`,
  )
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
