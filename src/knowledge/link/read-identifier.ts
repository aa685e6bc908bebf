import { readTarget } from '../text/body/wikilinks.ts'
import { dropUnstorable } from '../text/clean-text.ts'
import { MEMORY_SCHEME } from '../text/name/memory-scheme.ts'

export interface ReadIdentifier {
  target: string
  /** With its anchor, where it has one. */
  name: string
  /** As it was sent, where that is not the name: a note may be called `[[A|B]]`. */
  sent: string | undefined
  /** Written as `project::note`. */
  namesProject: boolean
}

/** What a caller means who sends a link as it stands in a text, an address or a plain name. */
export function readIdentifier(identifier: string): ReadIdentifier {
  const sent = dropUnstorable(identifier)
  const read = readText(sent)
  return { ...read, sent: read.name === sent ? undefined : sent }
}

function readText(sent: string): Omit<ReadIdentifier, 'sent'> {
  let text = sent.trim()
  if (text.startsWith('[[') && text.endsWith(']]')) text = text.slice(2, -2)
  text = text.trim()
  if (text.startsWith(MEMORY_SCHEME)) text = text.slice(MEMORY_SCHEME.length)
  const read = readTarget(text)
  if (read === null) return { target: '', name: nameBehindHash(text), namesProject: false }
  return { target: read.target, name: read.name, namesProject: isProjectNamed(text) }
}

/** No link leads to a place without a note, but a note may be called "#idea". */
function nameBehindHash(text: string): string {
  return text.startsWith('#') ? (text.split('|', 1)[0] as string).trim() : ''
}

function isProjectNamed(text: string): boolean {
  const at = text.indexOf('::')
  const end = text.search(/[#|]/)
  return at > 0 && (end < 0 || at < end)
}
