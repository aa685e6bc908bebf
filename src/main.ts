import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Types are stripped and sources compiled once, not at every start. Where the folder cannot be written, nothing is kept.
enableCompileCache(fileURLToPath(new URL('../.cache/compile', import.meta.url)))

const { runCli } = await import('./cli/program.ts')
process.exitCode = await runCli(process.argv.slice(2))
