import { isLonger } from '../../../platform/text/is-longer.ts'
import { parseStoredYaml, splitText } from '../frontmatter/frontmatter.ts'
import { normalForm } from '../normal-form.ts'
import { firstHeading1 } from './headings.ts'

const LONGEST_TITLE = 500

/**
 * The title that an edit gave a note by changing its first heading of level 1; null when it gave none. It counts only
 * where heading and title were the same before, and where the frontmatter does not say otherwise.
 */
export function retitle(before: { text: string; title: string }, afterText: string): string | null {
  const old = splitText(before.text)
  if (!isSame(titleIn(old.body), before.title)) return null
  const changed = splitText(afterText)
  const heading = titleIn(changed.body)
  if (heading === null || isSame(heading, before.title) || isLonger(heading, LONGEST_TITLE)) return null
  return isTitleChanged(old.yaml, changed.yaml) ? null : heading
}

function titleIn(body: string): string | null {
  const heading = firstHeading1(body)
  return heading === undefined ? null : withoutClosing(heading.text) || null
}

/** In whatever Unicode form each is typed, as the headings of sections are compared. */
function isSame(heading: string | null, title: string): boolean {
  return heading !== null && normalForm(heading, 'NFC') === normalForm(title, 'NFC')
}

/** `# Title #` is called "Title". */
function withoutClosing(text: string): string {
  let end = text.length
  while (text[end - 1] === '#') end--
  if (end === text.length) return text
  const isClosing = end === 0 || text[end - 1] === ' ' || text[end - 1] === '\t'
  return isClosing ? text.slice(0, end).trimEnd() : text
}

function isTitleChanged(before: string | null, after: string | null): boolean {
  return before !== after && JSON.stringify(titleInYaml(before)) !== JSON.stringify(titleInYaml(after))
}

// Both were read before: the one when it was stored, the other when it was judged.
function titleInYaml(yaml: string | null): unknown {
  return yaml === null ? null : (parseStoredYaml(yaml).title ?? null)
}
