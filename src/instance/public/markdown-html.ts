/**
 * Markdown as HTML, by an allow-list: nothing is written but what stands in the tables below, with the one attribute
 * that links have. So there is nothing to clean afterwards, whatever the parser makes of a text. Markup in the text is
 * text.
 */
import MarkdownIt from 'markdown-it'
import { escapeHtml } from '../../platform/http/pages/escape-html.ts'

/** Tags by the name of the token without `_open` and `_close`. Headings say their level themselves. */
const PAIRED: Readonly<Record<string, string>> = {
  paragraph: 'p',
  bullet_list: 'ul',
  ordered_list: 'ol',
  list_item: 'li',
  blockquote: 'blockquote',
  strong: 'strong',
  em: 'em',
  s: 'del',
  table: 'table',
  thead: 'thead',
  tbody: 'tbody',
  tr: 'tr',
  th: 'th',
  td: 'td',
}
const HEADING = /^h[1-6]$/
const LINK_TARGET = /^(?:https?:\/\/|mailto:)[^\s]/i
const MAX_NESTING = 20

const markdown = new MarkdownIt('default', { html: false, linkify: false, maxNesting: MAX_NESTING })

type Token = ReturnType<typeof markdown.parse>[number]

export function markdownHtml(text: string): string {
  return writeTokens(markdown.parse(text, {})).trim()
}

/** A link as every HTML of ours has it. `content` is HTML already. */
export function linkHtml(target: string, content: string): string {
  return `<a href="${escapeHtml(target)}" rel="nofollow noopener noreferrer">${content}</a>`
}

export function isLinkTarget(target: string): boolean {
  return LINK_TARGET.test(target)
}

function writeTokens(tokens: readonly Token[]): string {
  let text = ''
  const openLinks: boolean[] = []
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const target = String(token.attrGet('href') ?? '')
      openLinks.push(isLinkTarget(target))
      if (openLinks.at(-1)) text += linkHtml(target, '').replace('</a>', '')
    } else if (token.type === 'link_close') {
      if (openLinks.pop()) text += '</a>'
    } else text += writeToken(token)
  }
  return text
}

function writeToken(token: Token): string {
  switch (token.type) {
    case 'inline':
      return writeTokens(token.children ?? [])
    case 'text':
      return escapeHtml(token.content)
    case 'softbreak':
      return '\n'
    case 'hardbreak':
      return '<br>\n'
    case 'hr':
      return '<hr>\n'
    case 'code_inline':
      return `<code>${escapeHtml(token.content)}</code>`
    case 'code_block':
    case 'fence':
      return `<pre><code>${escapeHtml(token.content)}</code></pre>\n`
    // There are no pictures; what they show is said.
    case 'image':
      return escapeHtml(plainText(token.children ?? []))
  }
  return token.nesting === 0 ? escapeHtml(token.content) : writeTag(token)
}

function writeTag({ type, tag, nesting, block, hidden }: Token): string {
  const name = type.startsWith('heading_') && HEADING.test(tag) ? tag : PAIRED[type.replace(/_(?:open|close)$/, '')]
  // In a list without blank lines paragraphs are there for the parser only.
  if (name === undefined || hidden) return ''
  return nesting > 0 ? `<${name}>` : `</${name}>${block ? '\n' : ''}`
}

function plainText(tokens: readonly Token[]): string {
  return tokens.map(({ content, children }) => (children === null ? content : plainText(children))).join('')
}
