import { Type } from 'typebox'
import { toRfc3339, toRfc3339OrNull } from '../../platform/clock/clock.ts'
import { nullable } from '../../platform/http/input/nullable.ts'
import { LONGEST_DOCUMENT, type ShownDocument } from './document-service.ts'
import type { ShownTerms } from './terms-service.ts'

const markdown = Type.String({
  description: `Markdown, at most ${LONGEST_DOCUMENT} characters.`,
  documented: { maxLength: LONGEST_DOCUMENT },
})
const termsText = Type.String({
  description: `Markdown, at most ${LONGEST_DOCUMENT} characters, and not blank.`,
  documented: { minLength: 1, maxLength: LONGEST_DOCUMENT },
})
const members = {
  text: Type.String({ description: 'Markdown.' }),
  content: Type.String({ description: 'The same as HTML.' }),
  updated_at: Type.String({ format: 'date-time' }),
}

export const DocumentDocument = Type.Object(members)
export const DocumentBody = Type.Object({ text: markdown })

export const TermsDocument = Type.Object({
  id: Type.String(),
  ...members,
  effective_date: nullable(Type.String({ format: 'date', description: 'Null in a draft.' })),
  published_at: nullable(Type.String({ format: 'date-time', description: 'Null in a draft.' })),
  changelog: Type.String({ description: 'What differs from the version before.' }),
})

export const TermsList = Type.Array(TermsDocument)
export const TermsPath = Type.Object({ id: Type.String({ description: 'Id of the version.' }) })
const changelog = Type.Optional(
  Type.String({
    description: `At most ${LONGEST_DOCUMENT} characters.`,
    documented: { maxLength: LONGEST_DOCUMENT },
  }),
)
export const NewTerms = Type.Object({ text: termsText, changelog })
export const ChangedTerms = Type.Object({ text: Type.Optional(termsText), changelog })

export const TermsPublication = Type.Object({
  effective_date: Type.Optional(
    Type.String({
      description: 'YYYY-MM-DD, not before the version in effect; today when absent.',
      documented: { format: 'date' },
    }),
  ),
  changelog,
})

export function documentToJson({ text, content, updatedAt }: ShownDocument) {
  return { text, content, updated_at: toRfc3339(updatedAt) }
}

export function termsToJson(terms: ShownTerms) {
  return {
    id: String(terms.id),
    ...documentToJson(terms),
    effective_date: terms.effectiveDate,
    published_at: toRfc3339OrNull(terms.publishedAt),
    changelog: terms.changelog,
  }
}
