/** A piece of a question as it was written. */
export type Token =
  | { kind: 'text'; text: string }
  | { kind: 'quoted'; text: string }
  | { kind: 'tags'; text: string }
  | { kind: 'operator'; operator: 'AND' | 'OR' | 'NOT' }
  | { kind: '(' }
  | { kind: ')' }

const BLANK = /\s/
const TAG = /^tags?:/i
const TYPOGRAPHIC = /[“”„‟«»＂]/g
const OPERATORS: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT'])

/** One pass over the text. A quote that is never closed is punctuation. Without tags, `tag:a` is text like any other. */
export function readTokens(question: string, hasTags: boolean): Token[] {
  const text = question.replace(TYPOGRAPHIC, '"')
  const lastQuote = text.lastIndexOf('"')
  const tokens: Token[] = []
  let start = 0
  for (let at = 0; at <= text.length; ) {
    const character = text[at]
    const isQuote = character === '"' && at < lastQuote
    const isEnd = character === undefined || BLANK.test(character)
    if (!isEnd && !isQuote && character !== '(' && character !== ')') {
      at++
      continue
    }
    // tag:"two words" is one tag.
    const isTag = hasTags && isQuote && TAG.test(text.slice(start, start + 5)) && text.slice(start, at).endsWith(':')
    if (at > start && !isTag) tokens.push(bare(text.slice(start, at), hasTags))
    if (isQuote) {
      const end = text.indexOf('"', at + 1)
      tokens.push({ kind: isTag ? 'tags' : 'quoted', text: text.slice(at + 1, end) })
      at = end
    } else if (character === '(' || character === ')') tokens.push({ kind: character })
    start = ++at
  }
  return tokens
}

/** Without its brackets, unless there is an operator for them to group: else they are punctuation. */
export function withoutIdleBrackets(tokens: readonly Token[]): Token[] {
  const isNeeded = tokens.some(({ kind }) => kind === 'operator')
  return tokens.filter(({ kind }) => isNeeded || (kind !== '(' && kind !== ')'))
}

/** Whether somebody put words in brackets. One that is never closed, or that nothing opened, is a sign like others. */
export function isGrouping(tokens: readonly Token[]): boolean {
  /** Of each bracket that is open: whether words stand in it. */
  const open: boolean[] = []
  for (const { kind } of tokens) {
    if (kind === '(') open.push(false)
    else if (kind === ')') {
      if (open.pop() === true) return true
    } else if (open.length > 0 && (kind === 'text' || kind === 'quoted')) open[open.length - 1] = true
  }
  return false
}

function bare(text: string, hasTags: boolean): Token {
  if (OPERATORS.has(text)) return { kind: 'operator', operator: text as 'AND' }
  const tag = hasTags ? TAG.exec(text) : null
  return tag === null ? { kind: 'text', text } : { kind: 'tags', text: text.slice(tag[0].length) }
}
