import { Type } from 'typebox'
import { HIGHEST_PRIORITY, LONGEST_HINT, LONGEST_TEXT, MOST_RULES, MOST_TRANSLATIONS, type StoredRule } from './rule.ts'

const text = Type.String({
  description: `At most ${LONGEST_TEXT} characters.`,
  documented: { minLength: 1, maxLength: LONGEST_TEXT },
})
const hint = Type.String({
  description: `At most ${LONGEST_HINT} characters.`,
  documented: { maxLength: LONGEST_HINT },
})
const priority = Type.Integer({ minimum: 0, maximum: HIGHEST_PRIORITY, description: 'Lower ones come first.' })

export const RuleDocument = Type.Object({
  id: Type.String(),
  text: Type.String(),
  hint: Type.String(),
  priority: Type.Integer(),
  translations: Type.Record(Type.String(), Type.Object({ text: Type.String(), hint: Type.String() })),
})

export const RuleList = Type.Array(RuleDocument)

export const RulePath = Type.Object({ id: Type.String({ description: 'Id of the rule.' }) })

const optional = {
  hint: Type.Optional(hint),
  priority: Type.Optional(priority),
  translations: Type.Optional(
    Type.Record(Type.String(), Type.Object({ text, hint: Type.Optional(hint) }), {
      description: 'By language code.',
      maxProperties: MOST_TRANSLATIONS,
    }),
  ),
}

export const NewRule = Type.Object({ text, ...optional })
export const ChangedRule = Type.Object({ text: Type.Optional(text), ...optional })

export const RuleMove = Type.Object({
  offset: Type.Integer({
    minimum: -MOST_RULES,
    maximum: MOST_RULES,
    description: 'By how many places: negative is up, positive is down.',
  }),
})

export function ruleToJson({ id, text, hint, priority, translations }: StoredRule) {
  return { id, text, hint, priority, translations }
}
