/** PostgreSQL only: rows whose texts are too long for one document, and so stand in pieces. */
import { type RawBuilder, sql } from 'kysely'
import { beginningMark, isShortBeginning, LONGEST_ACROSS, SPLIT, SPLIT_MARK } from './row-document.ts'
import { asksFor, looseExpression, readTextQuery, type TextQuery } from './text-query.ts'

interface SplitRows {
  /** Whether row `s` is none of them: its document tells whether it matches. */
  isOther: RawBuilder<boolean>
  /** Of those that are split the numbers of all that may match. */
  possible: RawBuilder<{ id: number }>
  /** Whether row `s`, which is split, matches. */
  matches: RawBuilder<boolean>
}

// NOTE Two conditions, and none that counts: PostgreSQL would take it for true of a third of all rows, and plan so.
const HAS_WORDS = sql<boolean>`s.split is distinct from ${sql.lit(SPLIT.words)}`
const HAS_PLACES = sql<boolean>`s.split is distinct from ${sql.lit(SPLIT.places)}`

/** Null: the documents tell everything. */
export function splitRows(expression: string): SplitRows | null {
  const query = readTextQuery(expression)
  const hasPhrases = asksFor(query, 'phrase')
  if (!hasPhrases && !asksFor(query, 'word')) return null
  return {
    isOther: hasPhrases ? sql<boolean>`(${HAS_WORDS} and ${HAS_PLACES})` : HAS_WORDS,
    possible: hasPhrases
      ? sql<{ id: number }>`${withoutWords(query)} union all ${withoutPlaces(query)}`
      : withoutWords(query),
    matches: sql<boolean>`(select ${condition(query)} from unnest(s.pieces) as piece (document))`,
  }
}

function withoutWords(query: TextQuery): RawBuilder<{ id: number }> {
  const expression = looseExpression(query, beginningOf)
  const begun = expression === null ? sql`` : sql`and ${inDocument(expression)}`
  return sql`select s.id from note_search s where s.split = ${sql.lit(SPLIT.words)} ${begun}`
}

function beginningOf(text: string): string {
  const word = text.slice(1, text.lastIndexOf("'"))
  return `'${beginningMark(word)}'${text.endsWith(':*') && isShortBeginning(word) ? ':*' : ''}`
}

function withoutPlaces(query: TextQuery): RawBuilder<{ id: number }> {
  const expression = looseExpression(query)
  const marked = expression === null ? `'${SPLIT_MARK}'` : `'${SPLIT_MARK}' & (${expression})`
  return sql`select s.id from note_search s where ${inDocument(marked)} and s.split = ${sql.lit(SPLIT.places)}`
}

/** Over all pieces of row `s`: each word may stand in another one. */
function condition(query: TextQuery): RawBuilder<boolean> {
  switch (query.kind) {
    case 'mark':
      return inDocument(query.text)
    case 'word':
      return anyWord([query.text])
    case 'phrase':
      return anyPhrase([query])
    case 'not':
      return sql<boolean>`not ${condition(query.part)}`
    case 'and':
      return sql<boolean>`(${sql.join(query.parts.map(condition), sql` and `)})`
    case 'or':
      return sql<boolean>`(${sql.join(alternatives(query.parts), sql` or `)})`
  }
}

/** Those that can be asked at once are. */
function alternatives(parts: readonly TextQuery[]): RawBuilder<boolean>[] {
  const words = parts.filter((part) => part.kind === 'word')
  const phrases = parts.filter((part) => part.kind === 'phrase')
  const others = parts.filter(({ kind }) => kind !== 'word' && kind !== 'phrase')
  return [
    ...(words.length === 0 ? [] : [anyWord(words.map(({ text }) => text))]),
    ...(phrases.length === 0 ? [] : [anyPhrase(phrases)]),
    ...others.map(condition),
  ]
}

function anyWord(words: readonly string[]): RawBuilder<boolean> {
  const text = words.join(' | ')
  const isMissing = sql<boolean>`s.split = ${sql.lit(SPLIT.words)}`
  return sql<boolean>`(${inDocument(text)} or bool_or(${isMissing} and piece.document @@ ${text}::tsquery))`
}

function anyPhrase(phrases: readonly { words: readonly string[] }[]): RawBuilder<boolean> {
  const text = phrases.map(({ words }) => `(${words.slice(0, LONGEST_ACROSS).join(' <-> ')})`).join(' | ')
  return sql<boolean>`bool_or(piece.document @@ ${text}::tsquery)`
}

function inDocument(text: string): RawBuilder<boolean> {
  return sql<boolean>`s.document @@ ${text}::tsquery`
}
