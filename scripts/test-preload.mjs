// Loaded into each test file's process before anything else, by run-test-file.ts: makes it cheaper, never different.
import asyncHooks from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const INDEX = process.env.COMMONPLACE_TEST_PACKAGES
const ROOT = new URL('..', import.meta.url).href
const INSTALLED = '/node_modules/'
const OUR_MODULE = /^\.\.?\/.*\.ts$/

if (INDEX !== undefined) findModulesOf(INDEX)
followNoPromises()

/**
 * What our own sources import: of a package its one file (see test-packages.mjs), and of ours the file beside, as it is written. Packages get
 * what they import as they are installed.
 */
function findModulesOf(index) {
  const files = new Map(Object.entries(JSON.parse(readFileSync(index, 'utf8'))))
  registerHooks({
    resolve(name, context, next) {
      const { parentURL, conditions } = context
      if (!isOurs(parentURL) || !conditions.includes('import')) return next(name, context)
      if (OUR_MODULE.test(name)) return found(new URL(name, parentURL).href, 'module-typescript')
      const file = files.get(name)
      return file === undefined ? next(name, context) : found(file, 'module')
    },
  })
}

function isOurs(url) {
  return url?.startsWith(ROOT) && !url.includes(INSTALLED)
}

function found(url, format) {
  return { url, format, shortCircuit: true }
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
