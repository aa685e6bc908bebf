// A real browser for tests: the system's Chromium, installed by the set-up of `npm test` where it may do so.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const BROWSER_VARIABLE = 'COMMONPLACE_TEST_BROWSER'
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]
const INSTALL_LIMIT_MS = 5 * 60_000

function findBrowser(): string | undefined {
  const given = process.env[BROWSER_VARIABLE]
  return given === undefined ? PLACES.find((place) => existsSync(place)) : given
}

/** Why browser tests are skipped; null when they run. */
export function browserUnavailable(): string | null {
  return findBrowser() === undefined ? `no Chromium found; install one or name it in ${BROWSER_VARIABLE}` : null
}

/** On a Debian machine as root the browser can be had; anywhere else the tests that need one are skipped, and say so. */
export function installBrowserIfPossible(): void {
  if (findBrowser() !== undefined || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  process.stderr.write('installing Chromium for the browser tests …\n')
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', 'chromium', 'fonts-dejavu-core']]) {
    const { status } = spawnSync('apt-get', ['-qq', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: 'ignore',
      timeout: INSTALL_LIMIT_MS,
    })
    if (status !== 0) return
  }
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findBrowser(),
    // Chromium refuses its sandbox to root; only pages of the server under test are opened.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
