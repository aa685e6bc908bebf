// Runs benchmark scenarios: `npm run bench -- <scenario>`, `all` for every one, none to list them.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { currentCommit, describeMachine } from './machine.ts'
import { isMet, type Measurement, type Scenario, type Target } from './scenario.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const RESULTS = new URL('results/', import.meta.url)

const names = readdirSync(new URL('scenarios/', import.meta.url))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace(/\.ts$/, ''))
  .sort()
const wanted = process.argv[2] === 'all' ? names : process.argv.slice(2)
const unknown = wanted.filter((name) => !names.includes(name))

if (unknown.length > 0 || wanted.length === 0) {
  if (unknown.length > 0) console.error(`There is no scenario ${unknown.join(', ')}.\n`)
  console.log('npm run bench -- <scenario> … | all\n')
  const width = Math.max(...names.map(({ length }) => length))
  for (const name of names) console.log(`  ${name.padEnd(width)}  ${(await load(name)).description}`)
  process.exitCode = unknown.length > 0 ? 2 : 0
}

// Every server and directory of a scenario is cleaned up at the end of the process.
process.setMaxListeners(100)
if (unknown.length === 0) for (const name of wanted) await measure(name)

async function load(name: string): Promise<Scenario> {
  const module = (await import(new URL(`scenarios/${name}.ts`, import.meta.url).href)) as { scenario: Scenario }
  return module.scenario
}

async function measure(name: string): Promise<void> {
  const scenario = await load(name)
  console.log(`\n${name}: ${scenario.description}`)
  const measurement = await scenario.run((line) => console.error(`  ${line}`))
  print(measurement)
  const { targets, columns, rows, details } = measurement
  const result = {
    scenario: name,
    date: new Date().toISOString(),
    commit: currentCommit(ROOT),
    machine: describeMachine(),
    targets: targets.map((target) => ({ ...target, met: isMet(target) })),
    figures: rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]]))),
    ...(details === undefined ? {} : { details }),
  }
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(new URL(`${name}.json`, RESULTS), `${JSON.stringify(result, null, 2)}\n`)
  if (!targets.every(isMet)) process.exitCode = 1
}

function print({ columns, rows, targets }: Measurement): void {
  const lines = [columns, ...rows.map((row) => row.map(text))]
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  for (const line of lines) console.log(line.map((cell, column) => cell.padStart(widths[column] as number)).join('  '))
  for (const target of targets) console.log(`${isMet(target) ? 'reached' : 'MISSED '}  ${sentence(target)}`)
}

function sentence({ name, value, unit, atLeast, below }: Target): string {
  return `${name}: ${text(value)} ${unit} (${atLeast === undefined ? `below ${below}` : `at least ${atLeast}`} ${unit})`
}

function text(value: string | number | null): string {
  if (value === null) return '-'
  return typeof value === 'string'
    ? value
    : value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 })
}
