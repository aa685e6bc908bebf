import { comparisonsOf } from './comparisons-of.ts'
import { type CompareOperator, type Condition, OPERATORS, type Query, type Value } from './condition.ts'
import type { Field, FieldCatalogue } from './fields.ts'
import { invalidQuery, quoted } from './invalid-query.ts'
import { readTokens, type Token } from './read-tokens.ts'
import { readValue, wantedValue } from './read-value.ts'
import { textWords } from './text-words.ts'

export interface ParseOptions {
  /** Only a count can be grouped. */
  allowsGroupBy: boolean
}

export const MAX_NESTING = 50
const MAX_COMPARISONS = 1_000
const MAX_WORDS = 50

const COMPARES: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>='])
// A field with such a name has to stand in back-quotes.
const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'IN', 'IS', 'NULL', 'BETWEEN', 'STARTS_WITH', 'GROUP', 'TRUE', 'FALSE'])

/** Reads the query of a list or a count; throws `invalid_argument` with the position of the first mistake. */
export function parseQuery(query: string, catalogue: FieldCatalogue, options: ParseOptions): Query {
  return new Parser(query, catalogue).query(options)
}

class Parser {
  readonly #query: string
  readonly #catalogue: FieldCatalogue
  readonly #tokens: Token[]
  #at = 0
  #nesting = 0
  #comparisons = 0

  constructor(query: string, catalogue: FieldCatalogue) {
    this.#query = query
    this.#catalogue = catalogue
    this.#tokens = readTokens(query)
  }

  query({ allowsGroupBy }: ParseOptions): Query {
    const isEmpty = this.#token.kind === 'end' || this.#isWord('GROUP')
    const condition = isEmpty ? null : this.#either()
    const group = this.#token
    const isGrouped = this.#takesWord('GROUP')
    if (isGrouped) {
      if (!allowsGroupBy) throw this.#invalid(group, 'GROUP BY belongs to counts only')
      this.#groupBy()
    }
    if (this.#token.kind !== 'end') throw this.#unexpected('the end of the query')
    return { condition, groupBy: isGrouped ? 'ExecutionStatus' : null }
  }

  #groupBy(): void {
    if (!this.#takesWord('BY')) throw this.#unexpected('BY')
    const token = this.#token
    const field = this.#field()
    if (!field.isSystem || field.name !== 'ExecutionStatus') {
      throw this.#invalid(token, 'only GROUP BY ExecutionStatus is possible')
    }
    if (this.#isSymbol(',')) throw this.#invalid(this.#token, 'GROUP BY takes one field only')
  }

  #either(): Condition {
    return this.#chain('or', () => this.#chain('and', () => this.#term()))
  }

  #chain(kind: 'and' | 'or', operand: () => Condition): Condition {
    const first = operand()
    const operands = [first]
    while (this.#takesWord(kind.toUpperCase())) operands.push(operand())
    return operands.length === 1 ? first : { kind, operands }
  }

  #term(): Condition {
    const start = this.#token
    if (this.#takesWord('NOT')) {
      return this.#nested(start, () => ({ kind: 'not', operand: this.#term() }))
    }
    if (!this.#takesSymbol('(')) return this.#counted(start, this.#predicate())
    return this.#nested(start, () => {
      const inner = this.#either()
      this.#expectSymbol(')')
      return inner
    })
  }

  #nested(start: Token, read: () => Condition): Condition {
    if (++this.#nesting > MAX_NESTING) {
      throw this.#invalid(start, `parentheses and NOT are nested deeper than ${MAX_NESTING} levels`)
    }
    const inner = read()
    this.#nesting--
    return inner
  }

  /** Each run may have to be looked at for each of them. */
  #counted(start: Token, condition: Condition): Condition {
    this.#comparisons += comparisonsOf(condition)
    if (this.#comparisons > MAX_COMPARISONS) {
      throw this.#invalid(start, `there are more than ${MAX_COMPARISONS} comparisons up to here`)
    }
    return condition
  }

  #predicate(): Condition {
    const field = this.#field()
    const start = this.#token
    if (this.#takesWord('IS')) {
      const isNegated = this.#takesWord('NOT')
      if (!this.#takesWord('NULL')) throw this.#unexpected(isNegated ? 'NULL' : 'NULL or NOT NULL')
      return { kind: 'is-null', field, isNegated }
    }
    if (start.kind === 'symbol' && COMPARES.has(start.text)) {
      this.#at++
      this.#checkOperator(field, start, start.text)
      return { kind: 'compare', field, operator: start.text as CompareOperator, value: this.#value(field) }
    }
    const isNegated = this.#takesWord('NOT')
    const word = this.#token.kind === 'word' ? this.#token.text.toUpperCase() : ''
    if (word !== 'IN' && word !== 'BETWEEN' && word !== 'STARTS_WITH') throw this.#unexpected('an operator')
    this.#at++
    this.#checkOperator(field, start, isNegated ? `NOT ${word}` : word)
    if (word === 'IN') return { kind: 'in', field, isNegated, values: this.#values(field) }
    if (word === 'STARTS_WITH') return { kind: 'starts-with', field, isNegated, prefix: this.#prefix(field) }
    const low = this.#value(field)
    if (!this.#takesWord('AND')) throw this.#unexpected('AND and the upper bound')
    return { kind: 'between', field, isNegated, low, high: this.#value(field) }
  }

  #field(): Field {
    const token = this.#token
    const isKeyword = token.kind === 'word' && KEYWORDS.has(token.text.toUpperCase())
    if ((token.kind !== 'word' && token.kind !== 'name') || isKeyword) throw this.#unexpected('a field')
    this.#at++
    if (token.kind === 'word' && this.#isSymbol('(')) throw this.#invalid(token, 'functions are not supported')
    if (this.#isWord('BY')) throw this.#invalid(token, `${quoted(token.text)} BY is not supported`)
    const field = this.#catalogue.get(token.text)
    if (field === undefined) throw this.#invalid(token, `there is no field ${quoted(token.text)} in this namespace`)
    return field
  }

  #checkOperator(field: Field, token: Token, operator: string): void {
    const { name, type } = field
    if (OPERATORS[type].includes(operator)) return
    const possible = [...OPERATORS[type], 'IS NULL', 'IS NOT NULL'].join(', ')
    throw this.#invalid(token, `${quoted(name)} of type ${type} does not take ${operator} but ${possible}`)
  }

  #values(field: Field): Value[] {
    this.#expectSymbol('(')
    if (this.#isWord('SELECT')) throw this.#invalid(this.#token, 'sub-selects are not supported')
    const values = [this.#value(field)]
    while (this.#takesSymbol(',')) values.push(this.#value(field))
    this.#expectSymbol(')')
    return values
  }

  #value(field: Field): Value {
    const value = readValue(field, this.#token)
    if (value === undefined) throw this.#unexpected(`${wantedValue(field)} for ${field.name}`)
    if (field.type === 'Text' && textWords(String(value)).length > MAX_WORDS) {
      throw this.#invalid(this.#token, `there are more than ${MAX_WORDS} words for ${field.name}`)
    }
    this.#at++
    return value
  }

  /** The beginning of a status is no name of a status, so no synonym either. */
  #prefix(field: Field): Value {
    const { kind, text } = this.#token
    const value = this.#value(field)
    return kind === 'string' ? text : value
  }

  get #token(): Token {
    return this.#tokens[this.#at] as Token
  }

  #isWord(word: string): boolean {
    return this.#token.kind === 'word' && this.#token.text.toUpperCase() === word
  }

  #isSymbol(symbol: string): boolean {
    return this.#token.kind === 'symbol' && this.#token.text === symbol
  }

  #takesWord(word: string): boolean {
    if (!this.#isWord(word)) return false
    this.#at++
    return true
  }

  #takesSymbol(symbol: string): boolean {
    if (!this.#isSymbol(symbol)) return false
    this.#at++
    return true
  }

  #expectSymbol(symbol: string): void {
    if (!this.#takesSymbol(symbol)) throw this.#unexpected(quoted(symbol))
  }

  #unexpected(wanted: string): Error {
    const { kind, text } = this.#token
    const found = kind === 'end' ? 'the query ends' : `${quoted(text)} stands`
    return this.#invalid(this.#token, `${found} where ${wanted} is expected`)
  }

  #invalid(token: Token, problem: string): Error {
    return invalidQuery(this.#query, token.offset, problem)
  }
}
