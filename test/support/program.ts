// What a test starts as the server or the command line. A run of the tests makes the bundle that operators run, which starts in
// a third of the time, and names it here; a file alone starts the sources.
import { fileURLToPath } from 'node:url'

export const PROGRAM_VARIABLE = 'COMMONPLACE_TEST_PROGRAM'

// A start makes more than V8 has room for at first, and tidying up meanwhile is a fifth of what it takes.
export const YOUNG_MEMORY = ['--min-semi-space-size=64']

export const PROGRAM = process.env[PROGRAM_VARIABLE] ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** For a program of our sources that a test starts: it loads them as the test does, in half the time where a run has made them ready. */
export const SOURCE_FLAGS = [...YOUNG_MEMORY, ...process.execArgv.filter((flag) => flag.startsWith('--import='))]
