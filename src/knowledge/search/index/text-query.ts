/** The expressions that are written for PostgreSQL, read again: a row that is split is asked for each part by itself. */

export type TextQuery =
  /** As they are written. */
  | { kind: 'mark'; text: string }
  | { kind: 'word'; text: string }
  | { kind: 'phrase'; words: string[] }
  | { kind: 'and' | 'or'; parts: TextQuery[] }
  | { kind: 'not'; part: TextQuery }

const TOKEN = /'[^']*'(?::\*?[A-D]*)?|<->|[&|!()]/g
const MARK = /^'=/
const WEIGHTS = /:?[A-D]+$/

export function readTextQuery(expression: string): TextQuery {
  return new QueryReader(expression.match(TOKEN) ?? []).any()
}

class QueryReader {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  any(): TextQuery {
    const parts = [this.#all()]
    while (this.#takes('|')) parts.push(this.#all())
    return join('or', parts)
  }

  #all(): TextQuery {
    const parts = [this.#one()]
    while (this.#takes('&')) parts.push(this.#one())
    return join('and', parts)
  }

  #one(): TextQuery {
    if (this.#takes('!')) return { kind: 'not', part: this.#one() }
    if (this.#takes('(')) {
      const inner = this.any()
      this.#takes(')')
      return inner
    }
    const words = [this.#next()]
    while (this.#takes('<->')) words.push(this.#next())
    const text = words[0] as string
    if (words.length > 1) return { kind: 'phrase', words }
    return MARK.test(text) ? { kind: 'mark', text } : { kind: 'word', text }
  }

  #next(): string {
    const token = this.#tokens[this.#at++]
    if (token?.startsWith("'") !== true) throw new Error('An expression for the index of words cannot be read')
    return token
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false
    this.#at++
    return true
  }
}

function join(kind: 'and' | 'or', parts: readonly TextQuery[]): TextQuery {
  const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]))
  return flat.length === 1 ? (flat[0] as TextQuery) : { kind, parts: flat }
}

/** Whether something of the kind is asked for. */
export function asksFor(query: TextQuery, kind: 'word' | 'phrase'): boolean {
  if (query.kind === 'and' || query.kind === 'or') return query.parts.some((part) => asksFor(part, kind))
  return query.kind === 'not' ? asksFor(query.part, kind) : query.kind === kind
}

/**
 * What any row has that is meant, where it is not known which words stand side by side: an expression that is true of more rows.
 * `wordAs` is what is to be known of a word. Null: it would be true of all.
 */
export function looseExpression(query: TextQuery, wordAs: (text: string) => string = (text) => text): string | null {
  switch (query.kind) {
    case 'mark':
      return query.text
    case 'word':
      return wordAs(query.text)
    case 'phrase':
      // Where no places are kept, there are no weights.
      return query.words.map((word) => wordAs(word.replace(WEIGHTS, ''))).join(' & ')
    case 'not': {
      if (asksFor(query, 'word') || asksFor(query, 'phrase')) return null
      const part = looseExpression(query.part, wordAs)
      return part === null ? null : `!(${part})`
    }
    default: {
      const parts = query.parts.map((part) => looseExpression(part, wordAs))
      const some = parts.filter((part) => part !== null).map((part) => `(${part})`)
      if (query.kind === 'and') return some.length === 0 ? null : some.join(' & ')
      return some.length < parts.length ? null : some.join(' | ')
    }
  }
}
