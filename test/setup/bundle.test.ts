import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MiniClone } from './mini-clone.ts'

const OUR_PACKAGES = fileURLToPath(new URL('../../node_modules/', import.meta.url))

/** A clone with a bundler, whose command line prints a word. */
function cloneThatPrints(word: string): MiniClone {
  const clone = new MiniClone("console.log('from the sources')")
  printing(clone, word)
  clone.installByHand()
  for (const name of ['esbuild', '@esbuild'])
    symlinkSync(join(OUR_PACKAGES, name), join(clone.root, 'node_modules', name))
  return clone
}

function printing(clone: MiniClone, word: string): void {
  clone.write(
    'src/cli/program.ts',
    `export async function runCli(args: string[]) { console.log('${word}', ...args); return 3 }`,
  )
}

function run(clone: MiniClone, ...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(clone.root, 'bin/commonplace.mjs'), ...args], {
    encoding: 'utf8',
    timeout: 30_000,
  })
  return { status, output: `${stdout}${stderr}`.trim() }
}

function codeOf(clone: MiniClone): string {
  return join(clone.root, '.cache/compile/commonplace.code')
}

test('the command line runs from a bundle of the sources, with arguments and exit status', () => {
  const clone = cloneThatPrints('one')
  assert.deepEqual(run(clone, 'a', 'b'), { status: 3, output: 'one a b' })
  assert.match(readFileSync(join(clone.root, 'dist/commonplace.cjs'), 'utf8'), /one/)
})

test('a source that changed makes a new bundle', () => {
  const clone = cloneThatPrints('one')
  run(clone)
  printing(clone, 'two')
  const later = new Date(Date.now() + 5_000)
  utimesSync(join(clone.root, 'src/cli/program.ts'), later, later)
  assert.equal(run(clone).output, 'two')
})

test('sources that are unpacked over others make a new bundle, though they are older than the one that is there', () => {
  const clone = cloneThatPrints('one')
  run(clone)
  printing(clone, 'two')
  const before = new Date(Date.now() - 86_400_000)
  utimesSync(join(clone.root, 'src/cli/program.ts'), before, before)
  assert.equal(run(clone).output, 'two')
  const madeAt = statSync(join(clone.root, 'dist/commonplace.cjs')).ctimeMs
  assert.equal(run(clone).output, 'two')
  assert.equal(statSync(join(clone.root, 'dist/commonplace.cjs')).ctimeMs, madeAt, 'it was not made again')
})

test('a server keeps its compiled code, and the next start takes it', () => {
  const clone = cloneThatPrints('one')
  assert.equal(run(clone, '--version').output, 'one --version')
  assert.equal(existsSync(codeOf(clone)), false, 'a command has compiled hardly anything')
  assert.equal(run(clone, 'serve').output, 'one serve')
  const code = readFileSync(codeOf(clone))
  const before = new Date(Date.now() - 60_000)
  utimesSync(codeOf(clone), before, before)
  assert.equal(run(clone, 'serve').output, 'one serve')
  assert.equal(statSync(codeOf(clone)).mtimeMs, before.getTime(), 'nothing had to be compiled again')
  assert.deepEqual(readFileSync(codeOf(clone)), code)
})

test('the compiled code of another program is not run, though it is as long', () => {
  const clone = cloneThatPrints('one')
  run(clone, 'serve')
  const code = readFileSync(codeOf(clone))
  printing(clone, 'two')
  const later = new Date(Date.now() + 5_000)
  utimesSync(join(clone.root, 'src/cli/program.ts'), later, later)
  assert.deepEqual(run(clone, 'serve'), { status: 3, output: 'two serve' })
  assert.notDeepEqual(readFileSync(codeOf(clone)), code)
})

test('compiled code that is damaged is made anew', () => {
  const clone = cloneThatPrints('one')
  run(clone, 'serve')
  const code = readFileSync(codeOf(clone))
  const other = code.with(code.length >> 1, (code[code.length >> 1] as number) ^ 1)
  for (const damaged of [other, code.subarray(0, code.length - 100), code.subarray(0, 5), Buffer.alloc(0)]) {
    writeFileSync(codeOf(clone), damaged)
    assert.equal(run(clone, 'serve').output, 'one serve')
    assert.equal(readFileSync(codeOf(clone)).length, code.length)
  }
})

test('where compiled code cannot be kept, everything runs as before', () => {
  const clone = cloneThatPrints('one')
  clone.write('.cache/compile', 'a file in the way')
  for (const _ of [1, 2]) assert.deepEqual(run(clone, 'dev'), { status: 3, output: 'one dev' })
})

test('the bundle is all ASCII and says the same', () => {
  const clone = cloneThatPrints('one')
  clone.write(
    'src/cli/program.ts',
    `export async function runCli() {
      console.log('grün…'.replace(/[ü…🙂]/gu, (sign) => sign.codePointAt(0).toString(16)), \`ß🙂\`, /^ß🙂$/u.test('ß🙂'))
    }`,
  )
  assert.equal(run(clone).output, 'grfcn2026 ß🙂 true')
  assert.match(readFileSync(join(clone.root, 'dist/commonplace.cjs'), 'utf8'), /^[\0-\x7f]+$/)
})

test('a package that the bundle loads when it is needed brings no warning of Node', () => {
  const clone = cloneThatPrints('one')
  clone.write('node_modules/sharp/index.js', "module.exports = () => 'resized'")
  clone.write(
    'src/cli/program.ts',
    "export async function runCli() { const { default: resize } = await import('sharp'); console.log(resize()) }",
  )
  assert.equal(run(clone).output, 'resized')
})

test('the bundler is gone when the program runs', { skip: existsSync('/proc/self/stat') ? false : 'no /proc' }, () => {
  const clone = cloneThatPrints('one')
  clone.write(
    'src/cli/program.ts',
    `import { readdirSync, readFileSync } from 'node:fs'
    const stateOf = (pid) => {
      try {
        return readFileSync('/proc/' + pid + '/stat', 'utf8').split(') ').at(-1).split(' ')
      } catch {
        return ['gone']
      }
    }
    const isChild = ([state, parent]) => Number(parent) === process.pid && state !== 'Z'
    export async function runCli() {
      // A process that was told to end may still be there for a moment.
      while (readdirSync('/proc').some((name) => Number(name) > 0 && isChild(stateOf(name))));
      console.log('alone')
    }`,
  )
  assert.equal(run(clone).output, 'alone')
})

test('a new bundle takes away what builds that were killed have left, and nothing that is written now', () => {
  const clone = cloneThatPrints('one')
  const [old, young] = ['dist/commonplace.mjs.123', 'dist/builtin-model.bin.456']
  for (const name of [old, young]) clone.write(name, 'half')
  const before = new Date(Date.now() - 120_000)
  utimesSync(join(clone.root, old), before, before)
  run(clone)
  assert.deepEqual(
    [old, young].map((name) => existsSync(join(clone.root, name))),
    [false, true],
  )
})

test('the sources run where no bundle can be made', () => {
  const clone = new MiniClone("console.log('from the sources')")
  clone.installByHand()
  mkdirSync(join(clone.root, 'src/cli'))
  assert.equal(run(clone).output, 'from the sources')
})
