import { cutTo } from '../../platform/text/shortened.ts'

/**
 * What notes say, put into a text of ours so that it stays theirs: nothing in it can begin a line of its own. A fence could be closed
 * from inside and an indent be outdone by a list; a mark on each line cannot.
 */
// Whatever may end a line for anybody: Python's `splitlines`, which many agents use, knows more control characters than others.
const LINE_BREAK = /\r\n|[\p{Zl}\p{Zp}]|(?!\t)\p{Cc}/u
const BLANKS = /[\p{Cc}\p{Z}]+/gu
const BACKTICKS = /`+/g

/** Each line marked as quoted. */
export function quoted(text: string): string {
  return text
    .split(LINE_BREAK)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')
}

/** On one line, at most so long. */
export function oneLine(text: string, most: number): string {
  // Looks at no more than it may need: blanks shrink, and some texts are nothing else.
  const line = text
    .slice(0, 4 * most)
    .replace(BLANKS, ' ')
    .trim()
  const cut = line.length > most || text.length > 4 * most
  return cut ? `${cutTo(line, most)}…` : line
}

/** A name as code, whatever marks it has itself. */
export function asCode(text: string, most: number): string {
  const line = oneLine(text, most)
  const longest = Math.max(0, ...(line.match(BACKTICKS) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`
}
