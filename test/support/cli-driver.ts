/**
 * Runs command lines one after the other in a process of its own, because most of a command's time goes into loading
 * our sources. A line of standard input is a JSON array of arguments; the answer is a JSON line with what it wrote.
 */
import { createInterface } from 'node:readline'
import { runCli } from '../../src/cli/program.ts'

const answer = process.stdout.write.bind(process.stdout)

for await (const line of createInterface({ input: process.stdin })) {
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)]
  const status = await runCli(JSON.parse(line) as string[])
  answer(`${JSON.stringify({ status, stdout: stdout.join(''), stderr: stderr.join('') })}\n`)
}

function capture(stream: NodeJS.WriteStream): string[] {
  const written: string[] = []
  stream.write = (text: string | Uint8Array) => written.push(text.toString()) > 0
  return written
}
