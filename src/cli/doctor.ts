import { Command, Option } from 'commander'
import { type Clock, SystemClock } from '../platform/clock/clock.ts'
import { SettingsError } from '../platform/config/settings-error.ts'
import { createLogger } from '../platform/logging/logger.ts'
import { loadSettings, type Settings } from '../settings.ts'
import { checkProvider } from './doctor-embedding.ts'
import { type Finding, failed, ok } from './doctor-finding.ts'
import {
  checkBaseUrl,
  checkClock,
  checkDataDirectory,
  checkNode,
  checkPorts,
  checkProgram,
  checkSecretsFile,
} from './doctor-machine.ts'
import { checkStorage } from './doctor-storage.ts'
import { printJson } from './print-json.ts'
import { flagsOf, withServerFlags } from './settings-options.ts'

interface DoctorFlags {
  mode: 'dev' | 'serve'
  full?: boolean
  json?: boolean
}

const SIGNS = { ok: '✓', warning: '!', failed: '✗' } as const

export function doctorCommand(): Command {
  return withServerFlags(new Command('doctor'))
    .description('look for what keeps the server from running well; changes nothing')
    .addOption(new Option('--mode <mode>', 'for which way of running').choices(['dev', 'serve']).default('serve'))
    .option('--full', 'check every page, index and reference of the SQLite file (takes a while on a large one)')
    .option('--json', 'answer as JSON')
    .action(async (flags: DoctorFlags, command: Command) => {
      const findings = await examine(flags, command)
      const isHealthy = findings.every(({ status }) => status !== 'failed')
      if (flags.json) printJson({ healthy: isHealthy, findings })
      else for (const finding of findings) print(finding)
      if (!isHealthy) process.exitCode = 1
    })
}

async function examine(flags: DoctorFlags, command: Command): Promise<Finding[]> {
  const clock = new SystemClock()
  const findings = [checkNode(), checkProgram(), checkClock(clock)]
  try {
    const { settings, file } = await loadSettings({ mode: flags.mode, ...flagsOf(command) })
    findings.push(ok('settings', file === null ? 'valid (no settings file)' : `valid (${file})`))
    findings.push(...(await examineWith(settings, flags, clock)))
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    for (const { path, message, example } of error.problems) {
      findings.push(failed('settings', `${path} ${message}`, `write for example ${example}`))
    }
    if (error.more > 0) findings.push(failed('settings', `${error.more} more problems`, 'correct the others first'))
  }
  return findings
}

async function examineWith(settings: Settings, flags: DoctorFlags, clock: Clock): Promise<Finding[]> {
  const { server, storage } = settings
  const log = createLogger({ level: 'silent', format: 'readable', destination: process.stderr })
  return [
    ...checkDataDirectory(storage.data_dir),
    ...(await checkStorage({ settings, clock, log, full: flags.full === true })),
    checkSecretsFile(storage.data_dir),
    ...(flags.mode === 'serve' ? [checkBaseUrl(server)] : []),
    ...(await checkPorts(server)),
    await checkProvider(settings.knowledge, clock),
  ]
}

function print({ status, check, message, advice }: Finding): void {
  console.log(`${SIGNS[status]} ${check}: ${message}`)
  if (advice !== undefined) console.log(`    ${advice}`)
}
