const NEWLINE = 0x0a
// Longer than any row can be; a file that pretends otherwise must not fill the memory.
const LONGEST_LINE_BYTES = 256 * 1024 * 1024

/** Lines without their ends. What follows the last newline is a line, too, unless it is empty. */
export async function* splitLines(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of source) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end)
      yield parts.length === 0 ? rest : Buffer.concat([...parts, rest])
      parts = []
      length = 0
      start = end + 1
    }
    if (start === chunk.length) continue
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > LONGEST_LINE_BYTES) throw new RangeError('A line of the file is too long')
  }
  if (length > 0) yield Buffer.concat(parts)
}
