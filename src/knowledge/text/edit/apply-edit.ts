import { AppError } from '../../../platform/errors/app-error.ts'
import { editYaml, parseEditedYaml, replaceYaml, splitText } from '../frontmatter/frontmatter.ts'
import type { JsonValue } from '../frontmatter/metadata.ts'
import { deleteSection, insertAfterSection, insertBeforeSection, replaceSection, withLineEnd } from './edit-section.ts'
import { findReplace } from './find-replace.ts'
import { sectionTitle } from './section.ts'

export const EDIT_OPERATIONS = [
  'append',
  'prepend',
  'find_replace',
  'replace_section',
  'insert_before_section',
  'insert_after_section',
  'delete_section',
] as const

export type EditOperation = (typeof EDIT_OPERATIONS)[number]

export interface Edit {
  operation: EditOperation
  content: string
  section?: string | null
  find_text?: string | null
  /** 1 unless said; clients write it as text, too. */
  expected_replacements?: number | string | null
  /** True unless said. */
  replace_subsections?: boolean | null
  /** Frontmatter to change besides; null takes a key away. */
  metadata?: Record<string, JsonValue | null> | null
}

// What a note is called and where it is found changes through the text itself, not beside it.
const OWN_KEYS = new Set(['title', 'type', 'permalink'])

/** The whole text after the edit; throws `invalid_argument` when it cannot be made. */
export function applyEdit(text: string, edit: Edit): string {
  const edited = changeText(text, edit)
  if (edited !== text) refuseBrokenFrontmatter(text, edited)
  return changeMetadata(edited, edit.metadata ?? {})
}

function changeText(text: string, edit: Edit): string {
  const { operation, content } = edit
  if (operation === 'append') return append(text, content)
  if (operation === 'prepend') return prepend(text, content)
  if (operation === 'find_replace') {
    return findReplace(text, edit.find_text, content, Number(edit.expected_replacements ?? 1))
  }
  const title = sectionTitle(operation, edit.section)
  const { head, body } = splitText(text)
  const changed = changeSection(body, title, edit, countLines(head))
  const isFirst = body === '' && head !== '' && changed !== '' && !head.endsWith('\n\n')
  return isFirst ? `${withLineEnd(head)}\n${changed}` : head + changed
}

function changeSection(body: string, title: string, edit: Edit, firstLine: number): string {
  const { operation, content } = edit
  switch (operation) {
    case 'replace_section':
      return replaceSection(body, title, content, edit.replace_subsections ?? true, firstLine)
    case 'insert_before_section':
      return insertBeforeSection(body, title, content, firstLine)
    case 'insert_after_section':
      return insertAfterSection(body, title, content, firstLine)
    case 'delete_section':
      return deleteSection(body, title, firstLine)
    default:
      throw new AppError('invalid_argument', `operation must be one of ${EDIT_OPERATIONS.join(', ')}`)
  }
}

function append(text: string, content: string): string {
  return content === '' ? text : withLineEnd(text) + content
}

function prepend(text: string, content: string): string {
  if (content === '') return text
  const { head, body } = splitText(text)
  return withLineEnd(head) + withLineEnd(content) + body
}

/** An edit may change the frontmatter, but what is left must be one: else a second block would be put before it. */
function refuseBrokenFrontmatter(before: string, after: string): void {
  const { yaml } = splitText(after)
  const { yaml: old } = splitText(before)
  if (yaml === old) return
  if (yaml !== null) parseEditedYaml(yaml, old)
  else if (after.trimStart().startsWith('---')) {
    throw new AppError('invalid_argument', 'The edit would leave the frontmatter without its closing "---"')
  }
}

function changeMetadata(text: string, metadata: Record<string, JsonValue | null>): string {
  const changes = Object.fromEntries(Object.entries(metadata).filter(([key]) => !OWN_KEYS.has(key)))
  const parts = splitText(text)
  const isChange = Object.values(changes).some((value) => parts.yaml !== null || value !== null)
  return isChange ? replaceYaml(parts, editYaml(parts.yaml ?? '', changes)) + parts.body : text
}

/** The number of the first line after the text. */
function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
