import { hasUnspaced } from '../../text/unspaced.ts'
import { isUnspacedWord } from '../words/search-text.ts'
import { stemOf } from '../words/stem.ts'
import { phraseWords } from './phrase-words.ts'
import { isGrouping, readTokens, type Token, withoutIdleBrackets } from './read-tokens.ts'
import { spokenText } from './spoken-text.ts'
import { STOP_WORDS } from './stop-words.ts'
import { takeTags } from './take-tags.ts'

/** A word is found wherever a word begins with it, or has the same stem. */
export type Term =
  | { kind: 'word'; word: string; stem: string | null /* null: none that differs */ }
  | { kind: 'phrase'; words: string[]; isBeginning: boolean /* of its last word */ }

export type Node = Term | { kind: 'and' | 'or'; parts: Node[] } | { kind: 'not'; part: Node }

export interface Question {
  /** Null: nothing to look for. */
  tree: Node | null
  /** What was asked, where some of its words are enough. */
  whole?: Node
  /** Of `tag:a,b`. */
  tags: string[]
  /** Of each `NOT tag:a,b`. */
  excludedTags: string[][]
  /** No operators, quotes. */
  isPlain: boolean
  /** Words are put in brackets. */
  isGrouped: boolean
  /** A word of it is nothing but digits. */
  hasNumber: boolean
  /** All positive words, folded, in order. */
  words: string[]
  /** Likewise, as they were written: what is told to others. */
  spoken: string
}

/** Words that are looked for. */
export const MOST_TERMS = 64
const MOST_TAGS = 32
const MOST_NESTED = 12
const LONGEST_PHRASE = 32
// Very many words begin with fewer letters, as the `t` of "don't".
const SHORTEST_BEGINNING = 4
// To collect all that begin so takes long, also behind NOT: other short words are looked for as they are.
const MOST_SHORT_BEGINNINGS = 8
// Whatever stands behind that many characters is not looked for.
const LONGEST_TEXT = 20_000
const DIGIT = /\p{N}/u
const DIGITS = /^\p{N}+$/u
const POSSESSIVE = /['’]s$/i
const LETTER = /[\p{L}\p{N}]/u
// All notes have it at the end of their paths, so the index has it nowhere.
const NOTE_TYPE = /\.md[^\p{L}\p{N}]*$/iu

/** Any text is a question. Takes time in proportion to its length. */
export function parseQuestion(text: string): Question {
  return parse(text, true)
}

/** Words of a title, which has no tags. */
export function parseTitle(text: string): Question {
  return parse(text, false)
}

function parse(text: string, hasTags: boolean): Question {
  const written = readTokens(text.slice(0, LONGEST_TEXT).toWellFormed(), hasTags)
  const tokens = withoutIdleBrackets(written)
  const isPlain = tokens.every(({ kind }) => kind === 'text' || kind === 'tags')
  const { tokens: operands, tags, excluded } = takeTags(tokens)
  const isOfTags = tags.length > 0 || excluded.length > 0
  // Operators with nothing to operate on may be meant as words.
  const tree = new Parser(operands).parse() ?? (isPlain || isOfTags ? null : new Parser(asTexts(operands)).parse())
  const words = tree === null ? [] : positiveWords(tree)
  return {
    tree,
    tags: tags.slice(0, MOST_TAGS),
    excludedTags: excluded.slice(0, MOST_TAGS).map((list) => list.slice(0, MOST_TAGS)),
    isPlain,
    isGrouped: isGrouping(written),
    hasNumber: operands.some(isNumber),
    words,
    spoken: spokenText(operands) || words.join(' '),
  }
}

/** What to ask when nothing has all words: any of them. Null where too few words say something, or the caller meant it so. */
export function relaxed(question: Question): Question | null {
  const { tree, isPlain, isGrouped, hasNumber } = question
  if (!isPlain || isGrouped || hasNumber || tree === null) return null
  const words = [...new Set(question.words)]
  const isUnspaced = words.some(isUnspacedWord)
  const pieces = isUnspaced ? words.map((word) => [word]) : piecesOf(tree)
  const counted = pieces.filter((piece) => !piece.every((word) => DIGITS.test(word)))
  if (counted.length < (isUnspaced ? 2 : 3)) return null
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  if (telling.every((word) => DIGITS.test(word))) return null
  const parts = wordTerms(telling.slice(0, MOST_TERMS))
  return { ...question, tree: join('or', parts), whole: tree, words: telling }
}

/** The words of each piece of a plain question. What signs join is one piece, as `state-of-the-art`. */
export function piecesOf(tree: Node): string[][] {
  return (tree.kind === 'and' ? tree.parts : [tree]).map(positiveWords)
}

/** Recursive descent; what is missing or superfluous is passed over. */
class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  #terms = 0
  readonly #shortBeginnings = new Set<string>()
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  parse(): Node | null {
    const parts: Node[] = []
    while (this.#at < this.#tokens.length) {
      const part = this.#any()
      if (part !== null) parts.push(part)
      // A closing bracket that nothing opened.
      this.#at++
    }
    return join('and', parts)
  }

  #any(): Node | null {
    const parts = [this.#all()]
    while (this.#isNext('OR')) {
      this.#at++
      parts.push(this.#all())
    }
    return join('or', parts)
  }

  #all(): Node | null {
    const parts: (Node | null)[] = []
    for (;;) {
      const token = this.#tokens[this.#at]
      if (token === undefined || token.kind === ')' || this.#isNext('OR')) return join('and', parts)
      if (this.#isNext('AND')) this.#at++
      else parts.push(this.#one())
    }
  }

  #one(): Node | null {
    let isNegated = false
    for (; this.#isNext('NOT'); this.#at++) isNegated = !isNegated
    const token = this.#tokens[this.#at]
    if (token === undefined || token.kind === ')' || token.kind === 'operator') return null
    this.#at++
    const node = token.kind === '(' ? this.#group() : this.#term(token)
    return node !== null && isNegated ? negated(node) : node
  }

  /** Brackets deeper than this group nothing any more. */
  #group(): Node | null {
    if (this.#depth >= MOST_NESTED) return null
    this.#depth++
    const node = this.#any()
    this.#depth--
    if (this.#tokens[this.#at]?.kind === ')') this.#at++
    return node
  }

  #term(token: Token): Node | null {
    if (this.#terms >= MOST_TERMS) return null
    if (token.kind === 'quoted') return this.#phrase(phraseWords(token.text), false)
    if (token.kind !== 'text') return null
    const parts: Node[] = []
    for (const run of runsOf(token.text.replace(POSSESSIVE, '').replace(NOTE_TYPE, ''))) {
      // One piece may be thousands of runs.
      if (this.#terms >= MOST_TERMS) break
      const words = phraseWords(run)
      const node = words.length === 1 ? this.#word(words[0] as string) : this.#phrase(words, true)
      if (node !== null) parts.push(node)
    }
    return join('and', parts)
  }

  #word(word: string): Term {
    this.#terms++
    return wordTerm(word, this.#shortBeginnings)
  }

  #phrase(words: readonly string[], isBeginning: boolean): Term | null {
    if (words.length === 0) return null
    this.#terms += words.length
    const last = words.at(-1) as string
    // Such a character stands in the index as the first of a pair, unless it ends its run.
    const isSingle = isUnspacedWord(last) && [...last].length === 1
    return {
      kind: 'phrase',
      words: words.slice(0, LONGEST_PHRASE),
      isBeginning: isSingle || (isBeginning && !isShort(last) && words.length <= LONGEST_PHRASE),
    }
  }

  #isNext(operator: 'AND' | 'OR' | 'NOT'): boolean {
    const token = this.#tokens[this.#at]
    return token?.kind === 'operator' && token.operator === operator
  }
}

/** Letters of an alphabet and characters without blanks are looked for apart, where they stand in one piece. Signs part nothing. */
function runsOf(text: string): string[] {
  if (!hasUnspaced(text)) return [text]
  const runs: string[] = []
  let isUnspacedRun: boolean | undefined
  for (const character of text) {
    const isUnspaced = hasUnspaced(character) || (!LETTER.test(character) && isUnspacedRun === true)
    if (isUnspaced === isUnspacedRun) runs[runs.length - 1] += character
    else runs.push(character)
    isUnspacedRun = isUnspaced
  }
  return runs
}

/** With signs around it, too. A day such as 2026-01-31 is more than one word, and says more than a number. */
function isNumber(token: Token): boolean {
  if (token.kind !== 'text' || !DIGIT.test(token.text)) return false
  const words = phraseWords(token.text)
  return words.length === 1 && DIGITS.test(words[0] as string)
}

function isShort(word: string): boolean {
  return word.length < SHORTEST_BEGINNING
}

function asTexts(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) => (token.kind === 'operator' ? [{ kind: 'text', text: token.operator }] : []))
}

export function wordTerms(words: readonly string[]): Term[] {
  const shortBeginnings = new Set<string>()
  return words.map((word) => wordTerm(word, shortBeginnings))
}

/** Of the short words of a question the first ones, which are noted down, may be beginnings; others are whole words. */
export function wordTerm(word: string, shortBeginnings = new Set<string>()): Term {
  if (isShort(word) && !isUnspacedWord(word)) {
    const isOneMore = shortBeginnings.size >= MOST_SHORT_BEGINNINGS && !shortBeginnings.has(word)
    if (isOneMore) return { kind: 'phrase', words: [word], isBeginning: false }
    shortBeginnings.add(word)
  }
  return { kind: 'word', word, stem: stemOf(word) }
}

function negated(node: Node): Node {
  return node.kind === 'not' ? node.part : { kind: 'not', part: node }
}

/** Equal parts once, parts of the same kind without their brackets. */
function join(kind: 'and' | 'or', parts: readonly (Node | null)[]): Node | null {
  const flat = parts.flatMap((part) => {
    if (part === null) return []
    return part.kind === kind ? part.parts : [part]
  })
  const unique = [...new Map(flat.map((part) => [JSON.stringify(part), part])).values()]
  return unique.length > 1 ? { kind, parts: unique } : (unique[0] ?? null)
}

function positiveWords(node: Node): string[] {
  if (node.kind === 'not') return []
  if (node.kind === 'word') return [node.word]
  return node.kind === 'phrase' ? node.words : node.parts.flatMap(positiveWords)
}
