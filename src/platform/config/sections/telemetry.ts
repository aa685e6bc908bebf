import { choice, flag, group } from '../keys.ts'

export const telemetrySettings = group(
  {
    log_level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      description: 'The least important lines that are still logged.',
      default: 'info',
    }),
    log_format: choice(['json', 'readable'], {
      description: 'One JSON object per line, or lines for people.',
      default: 'json',
      byMode: { dev: 'readable', cli: 'readable' },
    }),
    access_log: flag({ description: 'One line per request.', default: true }),
  },
  { description: 'What the server tells about itself.' },
)
