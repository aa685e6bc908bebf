import type { DestinationStream } from 'pino'

/** For a person at a terminal: `10:31:07 info  http     GET /readyz 200 0.4ms request=…`. */
export function readableLines(output: DestinationStream): DestinationStream {
  return {
    // One write may hold several lines.
    write(lines: string) {
      let text = ''
      for (const line of lines.split('\n')) if (line !== '') text += `${readable(line)}\n`
      output.write(text)
    },
    flushSync: () => (output as { flushSync?: () => void }).flushSync?.(),
    flush: (done?: (error?: Error) => void) => {
      const { flush } = output as { flush?: (done?: (error?: Error) => void) => void }
      if (flush === undefined) done?.()
      else flush.call(output, done)
    },
  } as DestinationStream
}

function readable(line: string): string {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line)
  } catch {
    return line
  }
  const { time, level, name, msg, err, ...rest } = isAccess(entry) ? accessSentence(entry) : entry
  const head = `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(name ?? 'main').padEnd(8)} ${msg ?? ''}`
  const extras = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const cause = err as { message?: string; stack?: string } | undefined
  const stack = cause === undefined ? '' : `\n  ${cause.stack ?? cause.message}`
  return [head, ...extras].join(' ') + stack
}

function isAccess(entry: Record<string, unknown>): boolean {
  return entry.name === 'http' && entry.msg === 'request'
}

function accessSentence(entry: Record<string, unknown>): Record<string, unknown> {
  const { method, route, status, micros, ...rest } = entry
  return { ...rest, msg: `${method} ${route} ${status} ${(Number(micros) / 1000).toFixed(1)}ms` }
}
