/** Trees of words in the query languages of the two engines. Words hold letters, digits and marks only, so they need no escaping. */
import type { Engine } from '../../../platform/storage/engine.ts'
import type { Node, Term } from '../question/question.ts'
import { isUnspacedWord } from '../words/search-text.ts'
import { formsBegin, stemOf } from '../words/stem.ts'
import { nameBeginning, nameWord, projectWord } from './search-scope.ts'
import { scopeMark, stemMark } from './text-vector.ts'

/** SQLite only: words of the index that begin with one of a question. */
export interface Beginning {
  words: readonly string[]
  /** False: there are more. */
  isWhole: boolean
}

export interface MatchScope {
  projectId: number
  /** There is no other one: what matches is in it. */
  isOnlyProject: boolean
  /** Besides the project: one word of each group. */
  scope: readonly (readonly string[])[]
  /** Not all words of any group. */
  without?: readonly (readonly string[])[]
  /** Instead of all this: one word of each of these groups. */
  or?: readonly (readonly string[])[] | undefined
}

export interface MatchInput extends MatchScope {
  tree: Node
  beginnings: ReadonlyMap<string, Beginning>
  /** Words of so many notes that longer ones which begin with them make no difference. */
  common: ReadonlySet<string>
  /** How many notes there are in all projects, at most. */
  notes: number
}

// Everything that begins with one letter, with two, with three is collected among so many notes; longer beginnings always. Among more
// it would take tens of milliseconds, in which nothing else is done.
const COLLECTED_AMONG = [0, 5_000, 10_000, 40_000]
const TEXTS = '{title tags headings body place}'
// Headings stand one behind the other there, which they do not in the note; each of them is in the body, too.
const PHRASE_TEXTS = '{title tags body place}'
/** Likewise on PostgreSQL: the weights of these texts (row-document.ts). */
const PHRASE_WEIGHTS = 'ABD'

export function matchExpression(engine: Engine, input: MatchInput): string {
  const node = engine === 'sqlite' ? sqliteNode(input, input.tree, false) : postgresNode(input.tree, input.common)
  return within(engine, node, input)
}

/** Of what the expression means, what is in the scope. SQLite goes by what stands first, and looks the others up. */
function within(engine: Engine, expression: string, scope: MatchScope): string {
  return scope.isOnlyProject && isUnlimited(scope)
    ? expression
    : all(engine, expression, scopeExpression(engine, scope))
}

/** Everything in the scope. */
export function scopeExpression(engine: Engine, input: MatchScope): string {
  const { projectId, scope, without = [], isOnlyProject, or } = input
  const project = isOnlyProject && scope.length > 0 ? [] : [[projectWord(projectId)]]
  const having = oneOfEach(engine, [...scope, ...project])
  const refused = without.map((words) => `(${words.map(quoted(engine)).join(andOf(engine))})`).join(orOf(engine))
  const inside = refused === '' ? having : `(${having})${engine === 'postgres' ? ' & !' : ' NOT '}(${refused})`
  const all = or === undefined ? inside : `(${inside})${orOf(engine)}(${oneOfEach(engine, or)})`
  return engine === 'postgres' ? all : `scope : (${all})`
}

function oneOfEach(engine: Engine, groups: readonly (readonly string[])[]): string {
  return groups.map((words) => `(${words.map(quoted(engine)).join(orOf(engine))})`).join(andOf(engine))
}

/** Whether nothing but the project narrows it. */
export function isUnlimited({ scope, without = [] }: MatchScope): boolean {
  return scope.length === 0 && without.length === 0
}

/** Both. */
export function all(engine: Engine, one: string, other: string): string {
  return `(${one})${andOf(engine)}(${other})`
}

/** Notes that have exactly the word. */
export function exactExpression(engine: Engine, scope: MatchScope, word: string): string {
  const node = engine === 'sqlite' ? `${TEXTS} : "${word}"` : `'${word}'`
  return within(engine, node, scope)
}

/** Notes that have the word itself or another form of it, but not those with a word that only begins so. */
export function formExpression(engine: Engine, scope: MatchScope, word: string): string {
  const stem = stemOf(word) ?? word
  const forms = [...new Set([word, stem])]
  const node =
    engine === 'sqlite'
      ? `(${TEXTS} : (${forms.map((form) => `"${form}"`).join(' OR ')})) OR (stems : "${stem}")`
      : [...forms, stemMark(stem)].map((form) => `'${form}'`).join(' | ')
  return within(engine, node, scope)
}

/**
 * The same words in what notes are called, for which there are lists of their own; whole ones, or beginnings, then also all that
 * may be other forms of a word. What stands behind NOT is left out. Null: nothing else does.
 */
export function nameExpression(engine: Engine, projectId: number, node: Node, isBeginning: boolean): string | null {
  const named = (word: string): string => {
    if (!isBeginning) return quotedScope(engine, nameWord(projectId, word), false)
    const { word: asked, isBeginning: isOpen } = nameBeginning(projectId, word)
    return quotedScope(engine, asked, isOpen)
  }
  if (node.kind === 'not') return null
  if (node.kind === 'word') return named(isBeginning ? formsBegin(node.word) : node.word)
  const parts =
    node.kind === 'phrase'
      ? node.words.map(named)
      : node.parts.map((part) => nameExpression(engine, projectId, part, isBeginning))
  const known = parts.filter((part) => part !== null)
  // One of several parts that is everything makes all of them everything.
  if (known.length === 0 || (node.kind === 'or' && known.length < parts.length)) return null
  const joint = engine === 'sqlite' ? { and: ' AND ', or: ' OR ' } : { and: ' & ', or: ' | ' }
  return known.map((part) => `(${part})`).join(joint[node.kind === 'or' ? 'or' : 'and'])
}

/** Whether less is asked for than the beginning means. */
export function isApproximate({ beginnings, common, notes }: MatchInput, word: string): boolean {
  const beginning = beginnings.get(word)
  if (beginning === undefined) return common.has(word)
  return !beginning.isWhole && (common.has(word) || isSlowlyCollected(word, notes))
}

/** SQLite only: whether collecting everything that begins so would take long. */
export function isSlowlyCollected(word: string, notes: number): boolean {
  return notes > (COLLECTED_AMONG[word.length] ?? Number.POSITIVE_INFINITY) && !isUnspacedWord(word)
}

/** SQLite only: whether the index collects all that begins with a word for each look, however little is looked at. */
export function isCollectedEachTime(expression: string): boolean {
  return expression.includes('" *')
}

function quoted(engine: Engine): (word: string) => string {
  return (word) => (engine === 'sqlite' ? `"${word}"` : `'${scopeMark(word)}'`)
}

function quotedScope(engine: Engine, word: string, isBeginning: boolean): string {
  return engine === 'sqlite'
    ? `scope : "${word}"${isBeginning ? ' *' : ''}`
    : `'${scopeMark(word)}'${isBeginning ? ':*' : ''}`
}

function andOf(engine: Engine): string {
  return engine === 'sqlite' ? ' AND ' : ' & '
}

function orOf(engine: Engine): string {
  return engine === 'sqlite' ? ' OR ' : ' | '
}

function sqliteNode(input: MatchInput, node: Node, isNegated: boolean): string {
  switch (node.kind) {
    case 'word':
      return sqliteWord(input, node, isNegated)
    case 'phrase':
      return sqlitePhrase(input, node)
    case 'or':
      return node.parts.map((part) => `(${sqliteNode(input, part, isNegated)})`).join(' OR ')
    case 'not':
      return sqliteAll(input, [node], isNegated)
    case 'and':
      return sqliteAll(input, node.parts, isNegated)
  }
}

/** NOT has two sides there: without anything else it is taken from everything. */
function sqliteAll(input: MatchInput, parts: readonly Node[], isNegated: boolean): string {
  const positive = parts.filter(({ kind }) => kind !== 'not')
  const negative = parts.flatMap((part) => (part.kind === 'not' ? [part.part] : []))
  const having =
    positive.length === 0
      ? `scope : "${projectWord(input.projectId)}"`
      : positive.map((part) => `(${sqliteNode(input, part, isNegated)})`).join(' AND ')
  if (negative.length === 0) return having
  return `(${having}) NOT (${negative.map((part) => `(${sqliteNode(input, part, !isNegated)})`).join(' OR ')})`
}

function sqliteWord(input: MatchInput, { word, stem }: Term & { kind: 'word' }, isNegated: boolean): string {
  const beginning = input.beginnings.get(word)
  // What must not be there is never taken for less than it is.
  const isRough = !isNegated && isApproximate(input, word)
  const isListed = beginning !== undefined && (beginning.isWhole || isRough)
  const words = isListed && (beginning.isWhole || !input.common.has(word)) ? beginning.words : []
  const texts = [...new Set([word, ...words, stem ?? word])].map((text) => `"${text}"`)
  if (!isListed) texts.push(`"${word}" *`)
  const found = [`(${TEXTS} : (${texts.join(' OR ')}))`, `(stems : "${stem ?? word}")`]
  if (isRough && !input.common.has(word)) found.push(`(scope : "${nameBeginning(input.projectId, word).word}")`)
  return found.join(' OR ')
}

function sqlitePhrase({ beginnings }: MatchInput, { words, isBeginning }: Term & { kind: 'phrase' }): string {
  const last = words.at(-1) as string
  const beginning = isBeginning ? beginnings.get(last) : { words: [], isWhole: true }
  if (!beginning?.isWhole) return `${PHRASE_TEXTS} : "${words.join(' ')}" *`
  const before = words.slice(0, -1)
  const phrases = [...new Set([last, ...beginning.words])].map((word) => `"${[...before, word].join(' ')}"`)
  return `${PHRASE_TEXTS} : (${phrases.join(' OR ')})`
}

function postgresNode(node: Node, common: ReadonlySet<string>): string {
  switch (node.kind) {
    case 'word': {
      const stem = node.stem === null ? '' : ` | '${node.stem}'`
      return `'${node.word}'${common.has(node.word) ? '' : ':*'}${stem} | '${stemMark(node.stem ?? node.word)}'`
    }
    case 'phrase': {
      const last = node.words.length - 1
      // What has no places has no weights, either: a word by itself may stand anywhere.
      const weights = last === 0 ? '' : PHRASE_WEIGHTS
      return node.words
        .map((word, index) => postgresWord(word, `${node.isBeginning && index === last ? '*' : ''}${weights}`))
        .join(' <-> ')
    }
    case 'not':
      // What must not be there is never taken for less than it is.
      return `!(${postgresNode(node.part, new Set())})`
    default:
      return node.parts.map((part) => `(${postgresNode(part, common)})`).join(node.kind === 'and' ? ' & ' : ' | ')
  }
}

function postgresWord(word: string, how: string): string {
  return how === '' ? `'${word}'` : `'${word}':${how}`
}
