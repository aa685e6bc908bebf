import { type RawBuilder, sql } from 'kysely'
import type { Engine } from '../../platform/storage/engine.ts'
import type { Field, FieldType } from './fields.ts'

const TEXT_TYPES: FieldType[] = ['Keyword', 'KeywordList', 'Text']

export function attributeColumn(type: FieldType): 'text_value' | 'number_value' {
  return TEXT_TYPES.includes(type) ? 'text_value' : 'number_value'
}

/** The attributes of one run, each fetched once; NULL where it has none. */
export class AttributeValues {
  readonly #engine: Engine
  readonly #runNumber: string
  readonly #names = new Map<Field, string>()

  constructor(engine: Engine, runNumber: string) {
    this.#engine = engine
    this.#runNumber = runNumber
  }

  of(field: Field): RawBuilder<unknown> {
    const name = this.#names.get(field) ?? `v${this.#names.size}`
    this.#names.set(field, name)
    return sql.ref(`f.${name}`)
  }

  /** Gives the condition the values that it asked for. */
  wrap(where: RawBuilder<boolean>): RawBuilder<boolean> {
    if (this.#names.size === 0) return where
    const values = [...this.#names].map(([field, name]) => sql`${this.#look(field)} as ${sql.ref(name)}`)
    // NOTE The limit keeps both engines from copying a fetch to every place where its value is used.
    return sql`exists (select 1 from (select ${sql.join(values)} limit 1) as f where ${where})`
  }

  #look({ name, type }: Field): RawBuilder<unknown> {
    const value = type === 'KeywordList' ? this.#list() : sql.ref(`a.${attributeColumn(type)}`)
    return sql`(select ${value} from callback_attributes as a
      where a.run_number = ${sql.ref(this.#runNumber)} and a.name = ${name} and a.type = ${type})`
  }

  /** All values in one text: as hexadecimal digits, so that no value holds what stands between them. */
  #list(): RawBuilder<unknown> {
    return this.#engine === 'sqlite'
      ? sql`',' || group_concat(hex(a.text_value), ',') || ','`
      : sql`',' || string_agg(encode(convert_to(a.text_value, 'UTF8'), 'hex'), ',') || ','`
  }
}

/** How a value stands in the text of its list. */
export function listPart(engine: Engine, value: string): string {
  const digits = Buffer.from(value).toString('hex')
  return `,${engine === 'sqlite' ? digits.toUpperCase() : digits},`
}
