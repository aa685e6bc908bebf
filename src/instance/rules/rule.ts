import { LANGUAGE } from '../../platform/config/formats.ts'
import { compareTexts } from '../../platform/text/compare-texts.ts'
import { type FieldProblem, refuseProblems, textProblem } from '../invalid.ts'
import type { Rule } from '../public/instance-data.ts'

export interface StoredRule extends Rule {
  priority: number
}

export type RuleText = { text: string; hint: string }

/** What a rule is to be; absent members stay as they are, or get their default. */
export interface RuleWish {
  text?: string
  hint?: string
  priority?: number
  translations?: Readonly<Record<string, { text: string; hint?: string }>>
}

export const LONGEST_TEXT = 300
export const LONGEST_HINT = 1_000
export const MOST_TRANSLATIONS = 200
/** They travel in every answer about the instance. */
export const MOST_RULES = 1_000
export const HIGHEST_PRIORITY = 1_000_000

/** The rule as wished; 422 with everything that is wrong. */
export function applyRuleWish(rule: Omit<StoredRule, 'id'>, wish: RuleWish): Omit<StoredRule, 'id'> {
  const translations = Object.entries(wish.translations ?? {}).map(([code, texts]) => [spelled(code), texts] as const)
  const changed = {
    text: wish.text ?? rule.text,
    hint: wish.hint ?? rule.hint,
    priority: wish.priority ?? rule.priority,
    translations: wish.translations === undefined ? rule.translations : sorted(translations),
  }
  refuseProblems([
    ...textProblems('', changed),
    repeatedProblem(translations.map(([language]) => language)),
    ...Object.entries(changed.translations).flatMap(([language, texts]) => [
      languageProblem(language),
      ...textProblems(`translations.${language}.`, texts),
    ]),
  ])
  return changed
}

function textProblems(prefix: string, { text, hint }: RuleText): (FieldProblem | undefined)[] {
  return [
    textProblem(`${prefix}text`, text, { maxLength: LONGEST_TEXT, required: true }),
    textProblem(`${prefix}hint`, hint, { maxLength: LONGEST_HINT }),
  ]
}

function languageProblem(language: string): FieldProblem | undefined {
  if (LANGUAGE.parse(language) !== undefined) return undefined
  return {
    field: 'translations',
    text: `must have keys that are language codes such as en or pt-BR`,
    code: 'ERR_INVALID',
  }
}

/** What is no code stays as it is, to be refused under that name. */
function spelled(language: string): string {
  return LANGUAGE.parse(language) ?? language
}

function repeatedProblem(languages: readonly string[]): FieldProblem | undefined {
  const repeated = languages.find((language, index) => languages.indexOf(language) !== index)
  if (repeated === undefined) return undefined
  return { field: 'translations', text: `must have each language once, not ${repeated} again`, code: 'ERR_INVALID' }
}

type Translation = readonly [language: string, texts: { text: string; hint?: string }]

function sorted(translations: readonly Translation[]): Record<string, RuleText> {
  const ordered = [...translations].sort(([one], [other]) => compareTexts(one, other))
  return Object.fromEntries(ordered.map(([language, { text, hint = '' }]) => [language, { text, hint }]))
}

/** The ids in their new order: the rule moves by so many places, not beyond the ends. */
export function moved<Id>(ids: readonly Id[], id: Id, offset: number): Id[] {
  const from = ids.indexOf(id)
  const others = ids.filter((other) => other !== id)
  const to = Math.max(0, Math.min(others.length, from + offset))
  return [...others.slice(0, to), id, ...others.slice(to)]
}
