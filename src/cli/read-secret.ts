import { isUtf8 } from 'node:buffer'
import { AppError } from '../platform/errors/app-error.ts'

const MAX_BYTES = 8_192
const CONTROL_C = '\u0003'
const CONTROL_D = '\u0004'

/** The line on standard input, as a script would send it. */
export async function readSecretFromPipe(): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new AppError('invalid_argument', `Standard input holds more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks)
  // Read all the same, it would become another secret, which nobody can type.
  if (!isUtf8(text)) throw new AppError('invalid_argument', 'Standard input is not text in UTF-8')
  const line = text.toString().replace(/\r?\n$/, '')
  // As `passwd` wants it, twice: no field of a form would take both.
  if (/[\r\n]/.test(line)) throw new AppError('invalid_argument', 'Standard input holds more than one line')
  return line
}

/** One line typed on the terminal, which shows nothing of it. */
export function promptSecret(question: string): Promise<string> {
  const { stdin, stderr } = process
  stderr.write(question)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.resume()
  return new Promise((resolve, reject) => {
    let typed = ''
    function finish(settle: () => void) {
      stdin.off('data', onData)
      stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
      settle()
    }
    function onData(text: string) {
      for (const character of text) {
        if (character === '\r' || character === '\n') return finish(() => resolve(typed))
        if (character === CONTROL_C || character === CONTROL_D) {
          return finish(() => reject(new AppError('canceled', 'Nothing was changed')))
        }
        if (character === '\u007f' || character === '\b') typed = [...typed].slice(0, -1).join('')
        else if (typed.length < MAX_BYTES) typed += character
      }
    }
    stdin.on('data', onData)
  })
}
