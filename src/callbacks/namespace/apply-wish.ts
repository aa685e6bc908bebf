import { isRecord } from '../../platform/config/setting.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { FieldType } from '../query/fields.ts'
import { type CallbackPolicy, findContradictions, type PolicyOverrides } from '../settings.ts'
import { MOST_ATTRIBUTES, type Namespace, type SearchAttributeTypes } from './namespace.ts'
import type { NamespaceWish } from './namespace-wish.ts'
import { camelCase } from './policy-json.ts'

type Tree = Record<string, unknown>

/** The namespace as it is wished for, but for its secrets. */
export function applyWish(namespace: Namespace, wish: NamespaceWish): Namespace {
  const { description = namespace.description, searchAttributes = {}, set = {}, unset = [] } = wish
  const overrides = unset.reduce((tree, key) => without(tree, key.split('.')), namespace.overrides as Tree)
  return {
    ...namespace,
    description,
    searchAttributes: changedAttributes(namespace.searchAttributes, searchAttributes),
    overrides: merged(overrides, set as Tree) as PolicyOverrides,
  }
}

/** Values that do not fit each other, or what is inherited: of groups that the wish names, since settings may have changed under others. */
export function refuseContradictions(policy: CallbackPolicy, { set = {}, unset = [] }: NamespaceWish): void {
  const problems: string[] = []
  const groups = new Set([...Object.keys(set), ...unset.map((key) => key.split('.')[0])])
  findContradictions(policy, (path, message) => {
    if (!groups.has(String(path[0]))) return
    const spelt = message.replace(/`(\w+)`/g, (_, key: string) => camelCase(key))
    problems.push(`${path.map(camelCase).join('.')} ${spelt}`)
  })
  const [first, ...others] = problems
  if (first === undefined) return
  throw new AppError('invalid_argument', others.length === 0 ? first : 'Invalid request', { problems })
}

function changedAttributes(
  known: SearchAttributeTypes,
  wished: Readonly<Record<string, FieldType | null>>,
): SearchAttributeTypes {
  const retyped = Object.entries(wished).filter(
    ([name, type]) => type !== null && Object.hasOwn(known, name) && known[name] !== type,
  )
  if (retyped.length > 0) {
    const problems = retyped.map(
      ([name]) => `The search attribute "${name}" has the type ${known[name]}, which never changes`,
    )
    throw new AppError('failed_precondition', problems[0] as string, { problems })
  }
  const types = Object.entries({ ...known, ...wished }).filter(
    (entry): entry is [string, FieldType] => entry[1] !== null,
  )
  if (types.length > MOST_ATTRIBUTES) {
    throw new AppError('failed_precondition', `A namespace has at most ${MOST_ATTRIBUTES} search attributes`)
  }
  return Object.fromEntries(types)
}

/** Groups key by key, everything else as a whole. */
function merged(below: Tree, above: Tree): Tree {
  const tree: Tree = { ...below }
  for (const [key, value] of Object.entries(above)) {
    const inner = isRecord(value) ? merged(isRecord(tree[key]) ? tree[key] : {}, value) : value
    if (!isRecord(inner) || Object.keys(inner).length > 0) tree[key] = inner
  }
  return tree
}

function without(tree: Tree, [key = '', ...path]: readonly string[]): Tree {
  const { [key]: value, ...others } = tree
  if (path.length === 0 || !isRecord(value)) return others
  const inner = without(value, path)
  return Object.keys(inner).length === 0 ? others : { ...tree, [key]: inner }
}
