/**
 * HTML that an administrator wrote, with nothing left in it but what markdownHtml could have written: the tags below
 * without attributes, and links. Everything else is shown as the text that it is. Tags that were left open are closed,
 * so that the piece can stand inside any page. One pass, no backtracking.
 */
import { escapeHtml } from '../../platform/http/pages/escape-html.ts'
import { isLinkTarget, linkHtml } from './markdown-html.ts'

const ALLOWED = new Set(
  'p br h1 h2 h3 h4 h5 h6 ul ol li a strong em del code pre blockquote hr table thead tbody tr th td'.split(' '),
)
const EMPTY = new Set(['br', 'hr'])
const MAX_TAG = 2_048
const TAG = /^<(\/?)([a-z][a-z0-9]{0,15})((?:[\s/][^<>]*)?)>$/i
const ENTITY = /&(?:[a-z][a-z0-9]{1,30}|#\d{1,7}|#x[0-9a-f]{1,6});/gi

export function cleanHtml(source: string): string {
  let text = ''
  const open: string[] = []
  let at = 0
  while (at < source.length) {
    const begin = source.indexOf('<', at)
    if (begin === -1) break
    text += cleanText(source.slice(at, begin))
    const end = source.indexOf('>', begin)
    const written = end === -1 || end - begin > MAX_TAG ? undefined : cleanTag(source.slice(begin, end + 1), open)
    text += written ?? '&lt;'
    at = written === undefined ? begin + 1 : end + 1
  }
  text += cleanText(source.slice(at))
  return text + open.reverse().map(closing).join('')
}

/** Undefined for what is no tag of ours. */
function cleanTag(tag: string, open: string[]): string | undefined {
  const [, slash, written = '', rest = ''] = TAG.exec(tag) ?? []
  const name = written.toLowerCase()
  if (!ALLOWED.has(name)) return undefined
  if (slash === '/') return closeTo(name, open)
  if (EMPTY.has(name)) return `<${name}>`
  if (name !== 'a') {
    open.push(name)
    return `<${name}>`
  }
  const target = hrefOf(rest)
  if (target === undefined || !isLinkTarget(target)) return ''
  open.push('a')
  return linkHtml(target, '').replace('</a>', '')
}

/** Closes what was opened inside, too; a closing tag without an opening one is nothing. */
function closeTo(name: string, open: string[]): string {
  const depth = open.lastIndexOf(name)
  return depth === -1 ? '' : open.splice(depth).reverse().map(closing).join('')
}

function closing(name: string): string {
  return `</${name}>`
}

function hrefOf(attributes: string): string | undefined {
  const [, double, single, bare] = /\shref\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"']+))/i.exec(attributes) ?? []
  return (double ?? single ?? bare)?.replaceAll(/&amp;/gi, '&').trim()
}

/** Entities stay what they are. */
function cleanText(text: string): string {
  let written = ''
  let at = 0
  for (const { index, 0: entity } of text.matchAll(ENTITY)) {
    written += escapeHtml(text.slice(at, index)) + entity
    at = index + entity.length
  }
  return written + escapeHtml(text.slice(at))
}
