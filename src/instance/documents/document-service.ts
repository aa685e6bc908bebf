import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import { instanceDomain } from '../instance-domain.ts'
import { refuseProblems, textProblem } from '../invalid.ts'
import type { MarkdownText } from '../public/instance-data.ts'
import type { SettingsKeeper } from '../settings/settings-keeper.ts'
import type { DocumentKind } from '../tables.ts'
import { DEFAULT_PRIVACY_POLICY } from './default-privacy-policy.ts'
import { documentHtml } from './document-html.ts'
import { isWritten, putDocument, readDocument, readInstalledAt } from './store-documents.ts'

export interface DocumentServiceOptions {
  db: Database
  clock: Clock
  changes: InstanceChanges
  keeper: SettingsKeeper
  baseUrl(): string
}

export interface ShownDocument extends MarkdownText {
  /** HTML */
  content: string
}

export const LONGEST_DOCUMENT = 100_000

/** Who may call is decided before: `org_management`. */
export class DocumentService {
  readonly #options: DocumentServiceOptions

  constructor(options: DocumentServiceOptions) {
    this.#options = options
  }

  async get(_principal: Principal, { kind }: { kind: DocumentKind }): Promise<ShownDocument> {
    return this.#show(await currentDocument(this.#options.db, kind))
  }

  /** An empty text returns to the default. */
  async put(
    principal: Principal,
    { kind, text: given }: { kind: DocumentKind; text: string },
    client?: ClientInfo,
  ): Promise<ShownDocument> {
    const { clock, changes } = this.#options
    refuseProblems([textProblem('text', given, { maxLength: LONGEST_DOCUMENT })])
    const text = given.trim() === '' ? '' : given
    const document = await changes.write(async (tx) => {
      const before = (await readDocument(tx, kind))?.text ?? ''
      if (text === before) return currentDocument(tx, kind)
      await putDocument(tx, kind, text, clock.now())
      const change = {
        action: 'instance_document.updated',
        target: { type: 'instance_documents', id: kind },
        changes: { text: { old: before, new: text } },
      }
      await changes.record(tx, principal, change, client)
      return currentDocument(tx, kind)
    })
    return this.#show(document)
  }

  async #show(document: MarkdownText): Promise<ShownDocument> {
    const { keeper, baseUrl } = this.#options
    const domain = instanceDomain(await keeper.current(), baseUrl())
    return { ...document, content: documentHtml(document.text, domain) }
  }
}

/** What is written, or else the default. */
async function currentDocument(reader: Reader, kind: DocumentKind): Promise<MarkdownText> {
  const written = await readDocument(reader, kind)
  if (isWritten(written)) return written
  if (kind === 'privacy_policy') return DEFAULT_PRIVACY_POLICY
  return { text: '', updatedAt: await readInstalledAt(reader) }
}
