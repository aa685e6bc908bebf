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
// What ends a sentence that ends with a tag. In quotes it is the tag's.
const SENTENCE_ENDS = '.!?;:…。！？；：،؟'
const OPERATORS: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT'])

/** One pass over the text. A quote that is never closed is punctuation. Without tags, `tag:a` is text like any other. */
export function readTokens(question: string, hasTags: boolean): Token[] {
  const text = question.replace(TYPOGRAPHIC, '"')
  const lastQuote = text.lastIndexOf('"')
  const tokens: Token[] = []
  let start = 0
  for (let at = 0; at <= text.length; ) {
    const tag = hasTags && at === start ? TAG.exec(text.slice(at, at + 5)) : null
    if (tag !== null) {
      const { tags, end } = tagList(text, at + tag[0].length, lastQuote)
      tokens.push({ kind: 'tags', text: tags })
      start = at = end
      continue
    }
    const character = text[at]
    const isQuote = character === '"' && at < lastQuote
    if (!isQuote && !isEndOfPiece(character)) {
      at++
      continue
    }
    if (at > start) tokens.push(bare(text.slice(start, at)))
    if (isQuote) {
      const end = text.indexOf('"', at + 1)
      tokens.push({ kind: 'quoted', text: text.slice(at + 1, end) })
      at = end
    } else if (character === '(' || character === ')') tokens.push({ kind: character })
    start = ++at
  }
  return tokens
}

/** `a,b` or `"two words",b`, from the first of them on, and where it ends. */
function tagList(text: string, start: number, lastQuote: number): { tags: string; end: number } {
  const tags: string[] = []
  let at = start
  for (;;) {
    const isQuoted = text[at] === '"' && at < lastQuote
    const first = at
    if (isQuoted) at = text.indexOf('"', at + 1) + 1
    else while (text[at] !== ',' && !isEndOfPiece(text[at]) && !(text[at] === '"' && at < lastQuote)) at++
    tags.push(isQuoted ? text.slice(first + 1, at - 1) : text.slice(first, at))
    if (text[at] !== ',') {
      if (!isQuoted) tags.push(withoutSentenceEnd(tags.pop() as string))
      return { tags: tags.join(','), end: at }
    }
    at++
  }
}

function withoutSentenceEnd(tag: string): string {
  let end = tag.length
  while (end > 0 && SENTENCE_ENDS.includes(tag.charAt(end - 1))) end--
  return tag.slice(0, end)
}

function isEndOfPiece(character: string | undefined): boolean {
  return character === undefined || BLANK.test(character) || character === '(' || character === ')'
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

function bare(text: string): Token {
  return OPERATORS.has(text) ? { kind: 'operator', operator: text as 'AND' } : { kind: 'text', text }
}
