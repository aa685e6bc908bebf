// Loaded into each test file's process before anything else, by run-test-file.ts: makes it cheaper, never different.
import asyncHooks from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { COMMONPLACE_TEST_PACKAGES: INDEX, COMMONPLACE_TEST_SOURCES: SOURCES } = process.env
const ROOT = new URL('..', import.meta.url).href
const INSTALLED = '/node_modules/'
const OUR_MODULE = /^\.\.?\/.*\.ts$/

if (INDEX !== undefined) findPackages(INDEX)
if (SOURCES !== undefined) loadSources(SOURCES)
// Programs that tests start are loaded this way, too.
if (process.argv[1]?.endsWith('.test.ts')) followNoPromises()

/** Our own sources get a package's one file, as test-packages.mjs made it; packages get each other as they are installed. */
function findPackages(index) {
  const files = new Map(Object.entries(JSON.parse(readFileSync(index, 'utf8'))))
  const place = pathToFileURL(index)
  registerHooks({
    resolve(name, context, next) {
      const file = files.get(name)
      if (file === undefined || !isOurs(context.parentURL) || !context.conditions.includes('import'))
        return next(name, context)
      return { url: new URL(file, place).href, format: 'module', shortCircuit: true }
    },
  })
}

/** Our own sources are where they are said to be, and as test-sources.mjs has kept them. */
function loadSources(directory) {
  registerHooks({
    resolve(name, context, next) {
      if (!OUR_MODULE.test(name) || !isOurs(context.parentURL)) return next(name, context)
      return { url: new URL(name, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
    },
    load(url, context, next) {
      const source = isOurs(url) && url.endsWith('.ts') ? keptSource(directory, url) : null
      return source === null ? next(url, context) : { source, format: 'module', shortCircuit: true }
    },
  })
}

function keptSource(directory, url) {
  try {
    return readFileSync(join(directory, decodeURI(url.slice(ROOT.length))), 'utf8')
  } catch {
    return null
  }
}

function isOurs(url) {
  return url?.startsWith(ROOT) && !url.includes(INSTALLED)
}

/**
 * Node's runner follows every promise from its making until it is collected, to know to which test an error belongs that nobody caught: a
 * tenth of all that a test with many promises takes. Without them it still follows what else is asynchronous; test-events.mjs tells of
 * errors that belong to no test, and they fail the file.
 */
function followNoPromises() {
  const { createHook } = asyncHooks
  asyncHooks.createHook = (callbacks) => {
    asyncHooks.createHook = createHook
    return createHook({ ...callbacks, trackPromises: false })
  }
}
