import { createLogger, type Logger } from '../../src/platform/logging/logger.ts'

/** For parts that insist on a logger in a test that does not read it. */
export function silentLogger(): Logger {
  return createLogger({ level: 'silent', format: 'json', destination: { write() {} } })
}
