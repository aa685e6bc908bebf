import { MICROS_PER_MS, type Micros, toRfc3339 } from '../../platform/clock/clock.ts'
import { DEFAULT_PRIVACY_POLICY } from '../documents/default-privacy-policy.ts'
import { documentHtml, namesServer } from '../documents/document-html.ts'
import { isWritten } from '../documents/store-documents.ts'
import { currentTerms, succeededBy } from '../documents/terms.ts'
import { instanceDomain } from '../instance-domain.ts'
import type { InstanceData, MarkdownText, PublishedTerms } from './instance-data.ts'

export interface TextDocument {
  updated_at: string
  content: string
}

export interface TermsDocument extends TextDocument {
  effective_date: string
  effective: boolean
  succeeded_by: string | null
}

/** A document, and when what it says last changed. */
export interface Dated<Document> {
  document: Document
  changedAt: Micros
}

export function extendedDescription(data: InstanceData, baseUrl: string): Dated<TextDocument> {
  return writtenOr({ text: '', updatedAt: data.installedAt }, data.extendedDescription, data, baseUrl)
}

export function privacyPolicy(data: InstanceData, baseUrl: string): Dated<TextDocument> {
  return writtenOr(DEFAULT_PRIVACY_POLICY, data.privacyPolicy, data, baseUrl)
}

/** Undefined when nothing is published. `today` is `YYYY-MM-DD`, UTC. */
export function termsOfService(data: InstanceData, baseUrl: string, today: string): Dated<TermsDocument> | undefined {
  const terms = currentTerms(data.terms, today)
  return terms && termsDocument(data, baseUrl, today, terms)
}

export function termsOfDate(
  data: InstanceData,
  baseUrl: string,
  today: string,
  date: string,
): Dated<TermsDocument> | undefined {
  const terms = data.terms.find(({ effectiveDate }) => effectiveDate === date)
  return terms && termsDocument(data, baseUrl, today, terms)
}

function termsDocument(
  data: InstanceData,
  baseUrl: string,
  today: string,
  terms: PublishedTerms,
): Dated<TermsDocument> {
  const { document, changedAt } = textDocument(data, baseUrl, terms)
  const effective = terms.effectiveDate <= today
  // Two more things change it from outside: its day comes, and another version is published.
  const changes = [
    changedAt,
    ...data.terms.map(({ updatedAt }) => updatedAt),
    ...data.terms
      .filter(({ effectiveDate }) => effectiveDate <= today)
      .map(({ effectiveDate }) => midnight(effectiveDate)),
  ]
  return {
    document: {
      ...document,
      effective_date: terms.effectiveDate,
      effective,
      succeeded_by: succeededBy(data.terms, terms),
    },
    changedAt: Math.max(...changes),
  }
}

/** What stands in for one that was cleared keeps its own date, but the answer changed when that happened. */
function writtenOr(
  fallback: Readonly<MarkdownText>,
  written: MarkdownText | null,
  data: InstanceData,
  baseUrl: string,
): Dated<TextDocument> {
  const { document, changedAt } = textDocument(data, baseUrl, isWritten(written) ? written : fallback)
  return { document, changedAt: Math.max(changedAt, written?.updatedAt ?? changedAt) }
}

function textDocument(data: InstanceData, baseUrl: string, written: MarkdownText): Dated<TextDocument> {
  const { updatedAt } = written
  const { content, namesUs } = htmlOf(written, instanceDomain(data.settings, baseUrl))
  return {
    document: { updated_at: toRfc3339(updatedAt), content },
    changedAt: namesUs ? Math.max(updatedAt, data.namedSince) : updatedAt,
  }
}

// To make it of a long text takes a while, and the text stays as it was read while counts and users change around it.
const made = new WeakMap<MarkdownText, Made>()

interface Made {
  domain: string
  content: string
  /** Whether it says the domain. */
  namesUs: boolean
}

function htmlOf(written: MarkdownText, domain: string): Made {
  const known = made.get(written)
  if (known?.domain === domain) return known
  const { text } = written
  const now = { domain, content: documentHtml(text, domain), namesUs: namesServer(text) }
  made.set(written, now)
  return now
}

function midnight(date: string): Micros {
  return Date.parse(`${date}T00:00:00Z`) * MICROS_PER_MS
}
