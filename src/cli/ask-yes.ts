import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'

interface Terminal {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
  /** What the streams are unless said. */
  terminal?: boolean
}

/** Whether `yes` was typed. Anything else is no, Ctrl-C, Ctrl-D and a terminal that is closed included. */
export async function askYes(
  question: string,
  terminal: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  const lines = createInterface(terminal)
  const closed = once(lines, 'close').then(() => null)
  const answer = await Promise.race([lines.question(question), closed]).catch(() => null)
  // The cursor still stands behind the question.
  if (answer === null) terminal.output.write('\n')
  lines.close()
  return answer?.trim() === 'yes'
}
