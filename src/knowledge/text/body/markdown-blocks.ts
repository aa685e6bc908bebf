import MarkdownIt from 'markdown-it'
import { atOnce, type Steps } from '../steps.ts'
import { readingPlainBlocks } from './plain-blocks.ts'
import type { TextBlock } from './text-block.ts'

// Deeper text is still read, but as paragraphs. Lazy lines of a quote cost a pass for every quote around them.
const MAX_LEVEL = 100
const MAX_QUOTES = 8
// Of a long list so many are read in one go, and the rest of the item that they end in.
const LIST_LINES = 500
// A row of signs is a rule.
const ITEM = /(?:([-+*]) (?!\1)|\d{1,9}[.)] )\S/y

const markdown = new MarkdownIt('commonmark', { maxNesting: Number.POSITIVE_INFINITY })
const { State } = markdown.block
type BlockState = InstanceType<typeof State>
type Token = ReturnType<BlockState['push']>

/** The library's tokens define fourteen properties one by one, which takes longer than finding the blocks. */
class LeanState extends State {
  quotes = 0

  override push(type: string, _tag: string, nesting: -1 | 0 | 1): Token {
    if (nesting < 0) this.level--
    // NOTE: all that the rules set is named here, or every token would change its shape several times.
    const fields = {
      type,
      level: this.level,
      map: null,
      content: '',
      markup: '',
      info: '',
      hidden: false,
      children: null,
    }
    const token = fields as unknown as Token
    if (nesting > 0) this.level++
    if (type === 'blockquote_open') this.quotes++
    else if (type === 'blockquote_close') this.quotes--
    this.tokens.push(token)
    return token
  }
}

function tooDeep(state: BlockState, line: number, _endLine: number, silent: boolean): boolean {
  if (silent || (state.level < MAX_LEVEL && (state as LeanState).quotes < MAX_QUOTES)) return false
  state.push('paragraph_open', 'p', 1)
  state.push('inline', '', 0).content = state.getLines(line, line + 1, state.blkIndent, false).trim()
  state.push('paragraph_close', 'p', -1)
  state.line = line + 1
  return true
}

markdown.block.State = LeanState
// A definition of a link target is text to us, too; and looking for one takes several passes.
markdown.block.ruler.disable('reference')
markdown.block.ruler.before('blockquote', 'too_deep', tooDeep)

/**
 * The texts of a document in order, without code and other HTML. Line ends inside them are always `\n`. The work can be left
 * alone behind each block that no other contains, between items of a long list, and every few lines of a plain text.
 */
export function* readingBlocks(body: string): Steps<TextBlock[]> {
  const source = withLineFeeds(body)
  return (yield* readingPlainBlocks(source)) ?? (yield* readingByRules(source))
}

/** The same for every text, by the rules alone: what `readingPlainBlocks` is measured by. */
export function blocksByRules(source: string, listLines = LIST_LINES): TextBlock[] {
  return atOnce(readingByRules(source, listLines))
}

function* readingByRules(source: string, listLines = LIST_LINES): Steps<TextBlock[]> {
  const blocks: TextBlock[] = []
  const tokens: Token[] = []
  for (const _step of outermost(source, tokens, listLines)) {
    const known = blocks.length
    addBlocks(blocks, tokens)
    // Those of a long text are a hundred times as large as the text.
    tokens.length = 0
    yield
    // Hundreds of lines of a list are as many steps.
    for (let at = known + 1; at < blocks.length; at++) yield
  }
  return blocks
}

function addBlocks(blocks: TextBlock[], tokens: Token[]): void {
  let quotes = 0
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token
    switch (token.type) {
      case 'blockquote_open':
        quotes++
        break
      case 'blockquote_close':
        quotes--
        break
      case 'inline':
        blocks.push(textBlock(tokens, at, quotes > 0))
        break
      case 'html_block':
        addAfterComment(blocks, token.content, quotes > 0)
    }
  }
}

/** Adds the tokens of one block after the other, of those that no other contains. A long list becomes several. */
function* outermost(source: string, tokens: Token[], listLines: number): Steps<void> {
  const state = new LeanState(source, markdown, {}, tokens)
  const rules = markdown.block.ruler.getRules('')
  let cut = 0
  for (let line = state.skipEmptyLines(0); line < state.lineMax; line = state.skipEmptyLines(state.line)) {
    state.line = line
    let end = state.lineMax
    if (isItem(state, line)) {
      // Further than it had to look for this one no other list has to look again.
      if (cut <= line) cut = nextItem(state, line + listLines)
      end = cut
    }
    rules.some((rule) => rule(state, line, end, false))
    // Whatever no other rule takes is a paragraph; a mistake there would go round for ever.
    if (state.line <= line) throw new Error('no rule of markdown took a line')
    yield
  }
}

function nextItem(state: BlockState, from: number): number {
  let line = from
  while (line < state.lineMax && !isItem(state, line)) line++
  return Math.min(line, state.lineMax)
}

/** Whether an item begins there at the margin, which ends whatever stands in the item before it. False also for some that do. */
function isItem({ src, bMarks }: BlockState, line: number): boolean {
  ITEM.lastIndex = bMarks[line] as number
  return ITEM.test(src)
}

/** The lines that hold those texts, counted from 0, the last not included. Text that lies too deep is left out. */
export function* readingTextLines(body: string): Steps<[start: number, end: number][]> {
  const lines: [start: number, end: number][] = []
  const tokens: Token[] = []
  for (const _step of outermost(withLineFeeds(body), tokens, LIST_LINES)) {
    for (const { type, map, content } of tokens) {
      const isText = type === 'inline' || (type === 'html_block' && isComment(content))
      if (isText && map) lines.push(map)
      yield
    }
    tokens.length = 0
  }
  return lines
}

function withLineFeeds(body: string): string {
  return body.includes('\r') ? body.replace(/\r\n?/g, '\n') : body
}

function textBlock(tokens: Token[], at: number, isQuoted: boolean): TextBlock {
  const { content } = tokens[at] as Token
  const opening = tokens[at - 1] as Token
  const isTop = opening.level === 0
  if (opening.type === 'heading_open') {
    return { kind: 'heading', text: content, level: levelOf(opening), isQuoted, isTop }
  }
  const kind = tokens[at - 2]?.type === 'list_item_open' ? 'item' : 'paragraph'
  return { kind, text: content, level: 0, isQuoted, isTop }
}

/** To markdown the line on which a comment ends is HTML to its end; to whoever wrote it, it is text again. */
function addAfterComment(blocks: TextBlock[], html: string, isQuoted: boolean): void {
  const end = isComment(html) ? html.indexOf('-->') : -1
  if (end === -1) return
  blocks.push({ kind: 'paragraph', text: html.slice(end + 3).trim(), level: 0, isQuoted, isTop: false })
}

function isComment(html: string): boolean {
  return html.trimStart().startsWith('<!--')
}

function levelOf({ markup }: Token): number {
  if (markup === '=') return 1
  return markup === '-' ? 2 : markup.length
}
