import { type RawBuilder, sql } from 'kysely'
import { byteOrder } from '../../platform/storage/byte-order.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { prefixEnd } from './code-points.ts'
import type { CompareOperator, Comparison, Condition, Value } from './condition.ts'
import { evaluateComparison } from './evaluate-condition.ts'
import { EXECUTION_STATUSES, type ExecutionStatusName, type Field, type SystemFieldName } from './fields.ts'
import { AttributeValues, attributeColumn, listPart } from './store-attribute-values.ts'
import { textWords } from './text-words.ts'

type Sql = RawBuilder<boolean>

/** Where a run's facts are found: columns as `table.column`, and what the status column holds for each status. */
export interface RunColumns {
  runNumber: string
  status: string
  callbackId: string
  runId: string
  /** Microseconds, as is `closedAt`, which is NULL while the run is running. */
  createdAt: string
  closedAt: string
  transitionCount: string
  statuses: Record<ExecutionStatusName, string | number>
}

/** Something that is compared: a column or an expression, and the PostgreSQL type that numbers are given in. */
interface Place {
  value: RawBuilder<unknown>
  numbers: 'bigint' | 'numeric'
}

const TRUE: Sql = sql`1 = 1`
const FALSE: Sql = sql`1 = 0`
const OPPOSITES: Record<CompareOperator, CompareOperator> = {
  '=': '!=',
  '!=': '=',
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
}

// Measured on SQLite: with some hundred subqueries each look takes several times as long as with a few.
const MAX_LOOKS = 20

/**
 * The runs that a query finds, for a `where`. Null stands for all of them. A query asks for each attribute where it
 * stands, which an index can answer; one with very many conditions fetches each attribute once for a run instead.
 * With `isPlanned` false SQLite is kept from thinking about an index for each comparison of a column.
 */
export function whereCondition(
  engine: Engine,
  columns: RunColumns,
  condition: Condition | null,
  isPlanned = true,
): Sql {
  if (condition === null) return TRUE
  const fetched = looksOf(condition) > MAX_LOOKS ? new AttributeValues(engine, columns.runNumber) : null
  const column = (name: string) => (isPlanned ? sql.ref(name) : sql`+${sql.ref(name)}`)
  const where = new ConditionCompiler(engine, columns, fetched, column).compile(condition, true)
  return fetched === null ? where : fetched.wrap(where)
}

function looksOf(condition: Condition): number {
  if (condition.kind === 'not') return looksOf(condition.operand)
  if (condition.kind !== 'and' && condition.kind !== 'or') return condition.field.isSystem ? 0 : 1
  return condition.operands.reduce((sum, operand) => sum + looksOf(operand), 0)
}

/**
 * NOTE A negation is carried down to the comparisons instead of being written as NOT: each of them then asks for what
 * is surely so or surely not so, and unknown ones, which match neither way, need no three-valued SQL.
 */
class ConditionCompiler {
  readonly #engine: Engine
  readonly #columns: RunColumns
  readonly #fetched: AttributeValues | null
  readonly #column: (name: string) => RawBuilder<unknown>

  constructor(
    engine: Engine,
    columns: RunColumns,
    fetched: AttributeValues | null,
    column: (name: string) => RawBuilder<unknown>,
  ) {
    this.#engine = engine
    this.#columns = columns
    this.#fetched = fetched
    this.#column = column
  }

  compile(condition: Condition, wanted: boolean): Sql {
    switch (condition.kind) {
      case 'not':
        return this.compile(condition.operand, !wanted)
      case 'and':
      case 'or':
        return this.#chain(condition.operands, wanted, (condition.kind === 'and') === wanted ? 'and' : 'or')
      case 'is-null':
        return this.#isNull(condition.field, condition.isNegated !== wanted)
      default:
        return condition.field.isSystem ? this.#system(condition, wanted) : this.#custom(condition, wanted)
    }
  }

  /** What asks for the same attribute is asked in one look at its row, such as both ends of a range. */
  #chain(operands: Condition[], wanted: boolean, word: 'and' | 'or'): Sql {
    const tests = new Map<Field, Sql[]>()
    const parts: Sql[] = []
    for (const operand of operands) {
      const row = this.#rowTest(operand, wanted)
      // Two conditions may hold for two different values of a list.
      if (row === undefined || (word === 'and' && row.field.type === 'KeywordList')) {
        parts.push(this.compile(operand, wanted))
      } else {
        const others = tests.get(row.field)
        if (others === undefined) tests.set(row.field, [row.test])
        else others.push(row.test)
      }
    }
    for (const [field, each] of tests) parts.push(this.#exists(field, joined(each, word)))
    return joined(parts, word)
  }

  /** What a row of the attribute has to fulfil, where one row is enough to know. */
  #rowTest(condition: Condition, wanted: boolean): { field: Field; test: Sql } | undefined {
    if (this.#fetched !== null) return undefined
    if (condition.kind === 'not') return this.#rowTest(condition.operand, !wanted)
    if (condition.kind === 'and' || condition.kind === 'or' || condition.kind === 'is-null') return undefined
    const { field } = condition
    if (field.isSystem || (field.type === 'KeywordList' && isPositive(condition) !== wanted)) return undefined
    return { field, test: this.#test(condition, attributePlace(field), wanted) }
  }

  #isNull(field: Field, isNull: boolean): Sql {
    if (!field.isSystem && this.#fetched !== null) {
      return isNull ? sql`${this.#fetched.of(field)} is null` : sql`${this.#fetched.of(field)} is not null`
    }
    if (!field.isSystem) return isNull ? sql`not ${this.#exists(field)}` : this.#exists(field)
    if (field.name !== 'CloseTime' && field.name !== 'ExecutionDuration') return isNull ? FALSE : TRUE
    const closedAt = sql.ref(this.#columns.closedAt)
    return isNull ? sql`${closedAt} is null` : sql`${closedAt} is not null`
  }

  #system(comparison: Comparison, wanted: boolean): Sql {
    const name = comparison.field.name as SystemFieldName
    if (name === 'ExecutionStatus') return this.#status(comparison, wanted)
    return this.#test(comparison, this.#placeOf(name), wanted)
  }

  #placeOf(name: Exclude<SystemFieldName, 'ExecutionStatus'>): Place {
    const { callbackId, runId, createdAt, closedAt, transitionCount } = this.#columns
    if (name === 'ExecutionDuration') {
      return { value: sql`((${sql.ref(closedAt)} - ${sql.ref(createdAt)}) * 1000)`, numbers: 'bigint' }
    }
    const columns = {
      CallbackId: callbackId,
      RunId: runId,
      StartTime: createdAt,
      CloseTime: closedAt,
      StateTransitionCount: transitionCount,
    }
    return { value: this.#column(columns[name]), numbers: 'bigint' }
  }

  /** There are four: which of them match is known before the database is asked. */
  #status(comparison: Comparison, wanted: boolean): Sql {
    const found = EXECUTION_STATUSES.filter((status) => evaluateComparison(comparison, [status]) === wanted)
    if (found.length === 0) return FALSE
    if (found.length === EXECUTION_STATUSES.length) return TRUE
    const values = found.map((status) => sql`${this.#columns.statuses[status]}`)
    return sql`${this.#column(this.#columns.status)} in (${sql.join(values)})`
  }

  #custom(comparison: Comparison, wanted: boolean): Sql {
    if (this.#fetched !== null) {
      const value = this.#fetched.of(comparison.field)
      if (comparison.field.type === 'KeywordList') return this.#contains(value, comparison, wanted)
      return this.#test(comparison, { value, numbers: 'numeric' }, wanted)
    }
    const row = this.#rowTest(comparison, wanted)
    if (row !== undefined) return this.#exists(row.field, row.test)
    // No value of the list may be one of these, and there has to be a list.
    const { field } = comparison
    const values =
      comparison.kind === 'compare' ? [comparison.value] : comparison.kind === 'in' ? comparison.values : []
    if (values.includes(null)) return FALSE
    const test = this.#test(comparison, attributePlace(field), !wanted)
    return sql`(${this.#exists(field)} and not ${this.#exists(field, test)})`
  }

  #exists(field: Field, test: Sql = TRUE): Sql {
    if (test === FALSE) return FALSE
    const which = sql`a.run_number = ${sql.ref(this.#columns.runNumber)} and a.name = ${field.name} and a.type = ${field.type}`
    const also = test === TRUE ? sql`` : sql` and ${test}`
    // With an offset PostgreSQL looks at the attributes of a run. Of a name or a value that it has not counted it expects one row, and
    // would read those of all runs of all namespaces, or compare each with each.
    const look = sql.raw(this.#engine === 'sqlite' ? '' : ' offset 0')
    return sql`exists (select 1 from callback_attributes as a where ${which}${also}${look})`
  }

  /** What holds for a value at the place exactly when the comparison is true, or false where that is wanted. */
  #test(comparison: Comparison, place: Place, wanted: boolean): Sql {
    const { field } = comparison
    if (comparison.kind === 'compare') {
      const { operator, value } = comparison
      if (value === null) return FALSE
      if (field.type === 'Text') return this.#words(place, String(value), (operator === '=') === wanted)
      return this.#compare(place, wanted ? operator : OPPOSITES[operator], value)
    }
    const isAsked = comparison.isNegated !== wanted
    switch (comparison.kind) {
      case 'in':
        return this.#in(place, comparison.values, isAsked)
      case 'between': {
        const bounds = [
          this.#compare(place, isAsked ? '>=' : '<', comparison.low),
          this.#compare(place, isAsked ? '<=' : '>', comparison.high),
        ]
        return joined(bounds, isAsked ? 'and' : 'or')
      }
      case 'starts-with':
        return comparison.prefix === null ? FALSE : this.#startsWith(place, String(comparison.prefix), isAsked)
    }
  }

  #compare(place: Place, operator: CompareOperator, value: Value): Sql {
    if (value === null) return FALSE
    const isOrdered = operator !== '=' && operator !== '!='
    const left = isOrdered && typeof value === 'string' ? byteOrder(this.#engine, place.value) : place.value
    return sql`${left} ${sql.raw(operator === '!=' ? '<>' : operator)} ${this.#bound(place, value)}`
  }

  #in(place: Place, values: Value[], isPositive: boolean): Sql {
    const known = values.filter((value) => value !== null)
    if (known.length === 0 || (!isPositive && known.length < values.length)) return FALSE
    const list = sql.join(known.map((value) => this.#bound(place, value)))
    return isPositive ? sql`${place.value} in (${list})` : sql`${place.value} not in (${list})`
  }

  #startsWith(place: Place, prefix: string, isPositive: boolean): Sql {
    const end = prefixEnd(prefix)
    const bounds = [this.#compare(place, isPositive ? '>=' : '<', prefix)]
    if (end !== undefined) bounds.push(this.#compare(place, isPositive ? '<' : '>=', end))
    return joined(bounds, isPositive ? 'and' : 'or')
  }

  #words(place: Place, text: string, isPositive: boolean): Sql {
    const words = textWords(text).map((word) => ` ${word} `)
    return this.#holdsOne(place.value, words, isPositive)
  }

  #contains(list: RawBuilder<unknown>, comparison: Comparison, wanted: boolean): Sql {
    const values = valuesOf(comparison)
    const known = values.filter((value) => value !== null)
    const isAsked = isPositive(comparison) === wanted
    if (known.length === 0 || (!isAsked && known.length < values.length)) return FALSE
    return this.#holdsOne(
      list,
      known.map((value) => listPart(this.#engine, String(value))),
      isAsked,
    )
  }

  #holdsOne(place: RawBuilder<unknown>, parts: string[], isPositive: boolean): Sql {
    const position = sql.raw(this.#engine === 'sqlite' ? 'instr' : 'strpos')
    const found = sql.raw(isPositive ? '> 0' : '= 0')
    return joined(
      parts.map((part): Sql => sql`${position}(${place}, ${part}) ${found}`),
      isPositive ? 'or' : 'and',
    )
  }

  #bound(place: Place, value: NonNullable<Value>): RawBuilder<unknown> {
    if (typeof value === 'string') return sql`${value}`
    const number = typeof value === 'boolean' ? BigInt(value) : value
    if (this.#engine === 'sqlite') return sql`${number}`
    return sql`cast(${String(number)} as ${sql.raw(place.numbers)})`
  }
}

function attributePlace({ type }: Field): Place {
  return { value: sql.ref(`a.${attributeColumn(type)}`), numbers: 'numeric' }
}

function valuesOf(comparison: Comparison): Value[] {
  return comparison.kind === 'compare' ? [comparison.value] : comparison.kind === 'in' ? comparison.values : []
}

function isPositive(comparison: Comparison): boolean {
  return comparison.kind === 'compare' ? comparison.operator !== '!=' : !comparison.isNegated
}

function joined(parts: Sql[], word: 'and' | 'or'): Sql {
  const [decisive, idle] = word === 'and' ? [FALSE, TRUE] : [TRUE, FALSE]
  if (parts.includes(decisive)) return decisive
  const rest = parts.filter((part) => part !== idle)
  return rest.length === 0 ? idle : balanced(rest, word)
}

/** A chain would be as deep as it is long, and SQLite takes expressions of 1,000 levels. */
function balanced(parts: Sql[], word: 'and' | 'or'): Sql {
  const middle = Math.ceil(parts.length / 2)
  if (middle === parts.length) return parts[0] ?? TRUE
  return sql`(${balanced(parts.slice(0, middle), word)} ${sql.raw(word)} ${balanced(parts.slice(middle), word)})`
}
