import { readFileSync } from 'node:fs'

// NOTE The bundle in dist/ lies as deep as this file, so the path is right in both.
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
  engines: { node: string }
}

export const VERSION = manifest.version

/** As npm writes it: `>=24.12`. */
export const NODE_RANGE = manifest.engines.node
