import type { OrganizationId, UserId } from '../auth/principal.ts'
import type { Reader, Transaction } from '../storage/database.ts'

/** Somebody whose data is erased or handed out. */
export interface Person {
  id: UserId
  organizationId: OrganizationId
  /** As they were before: what else the person can be found by. */
  email: string
  handle: string
}

export interface ErasedPerson extends Person {
  /** Addresses that the person had in between, as far as the log knows them and nobody else has them now. */
  formerEmails: readonly string[]
}

/** What one part of the server keeps about people. Whoever stores a name, an address or a credential contributes one. */
export interface PersonalDataPart {
  /** A member of the export: `sessions`. */
  readonly name: string
  /**
   * Removes or blanks everything that names the person, inside the transaction that anonymizes it. It may run again for
   * somebody who is anonymized already, to catch what was on its way.
   */
  erase(tx: Transaction, person: ErasedPerson): Promise<void>
  /** A JSON value, or many one by one; absent where there is nothing to hand out. Never a secret or its hash. */
  exportOf?(reader: Reader, person: Person): Promise<unknown> | AsyncIterable<unknown>
}

/** Everything that is kept about people. Features join when the server is put together. */
export class PersonalData {
  readonly #parts: PersonalDataPart[] = []

  get parts(): readonly PersonalDataPart[] {
    return this.#parts
  }

  join(...parts: PersonalDataPart[]): void {
    for (const part of parts) {
      if (this.#parts.some(({ name }) => name === part.name)) {
        throw new Error(`Two parts of personal data are called ${part.name}`)
      }
      this.#parts.push(part)
    }
  }

  async erase(tx: Transaction, person: ErasedPerson): Promise<void> {
    for (const part of this.#parts) await part.erase(tx, person)
  }

  /** The members of a JSON object as text, piece by piece: `"sessions":[…],"mails":[…]`. */
  async *exportMembers(reader: Reader, person: Person): AsyncGenerator<string> {
    let separator = ''
    for (const { name, exportOf } of this.#parts) {
      if (exportOf === undefined) continue
      yield `${separator}${JSON.stringify(name)}:`
      separator = ','
      const value = exportOf(reader, person)
      if (Symbol.asyncIterator in value) yield* arrayText(value)
      else yield JSON.stringify((await value) ?? null)
    }
  }
}

async function* arrayText(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  let before = '['
  for await (const item of items) {
    yield before + (JSON.stringify(item) ?? 'null')
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}
