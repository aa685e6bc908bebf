import { exampleAt, type Origin, type Origins, type Path, placeIn } from './origins.ts'
import { type Problems, show, showPath } from './problems.ts'
import { defaultOf, type GroupSetting, isRecord, type Mode, memberOf, secretBehind } from './setting.ts'

export type Tree = Record<string, unknown>

export interface Layer {
  tree: Tree
  origin: Origin
}

/** The built-in values of a mode: the lowest layer. */
export function defaultTree(group: GroupSetting, mode: Mode): Tree {
  const tree = emptyTree()
  for (const [key, member] of Object.entries(group.members)) {
    const value = member.kind === 'group' ? defaultTree(member, mode) : defaultOf(member, mode)
    if (value !== undefined) tree[key] = value
  }
  return tree
}

/**
 * Puts a layer over `target`: groups key by key, maps entry by entry, everything else as a whole. Unknown
 * keys come along, so that the reader can report them all.
 */
export function mergeLayer(
  group: GroupSetting,
  target: Tree,
  layer: Layer,
  found: { origins: Origins; problems: Problems },
  path: Path = [],
): void {
  dropOtherSpellings(group, target, layer.tree)
  for (const [key, value] of Object.entries(layer.tree)) {
    const [member, at] = [memberOf(group, key), [...path, key]]
    if (member?.kind === 'group') {
      // `server:` with nothing below it is an empty section.
      if (value === null) continue
      if (isRecord(value)) {
        const inner = { tree: value, origin: layer.origin }
        target[key] ??= emptyTree()
        mergeLayer(member, target[key] as Tree, inner, found, at)
      } else found.problems.add(() => notAMap(member, at, value, layer.origin))
      continue
    }
    target[key] = member?.kind === 'map' ? mergeMaps(target[key], value) : value
    for (const place of placesOf(group, at, value)) found.origins.set(place, layer.origin)
  }
}

export function emptyTree(): Tree {
  // Without a prototype no name is special, `__proto__` included.
  return Object.create(null) as Tree
}

// Whoever gives a secret in one spelling overrides the other one of the layers below.
function dropOtherSpellings(group: GroupSetting, target: Tree, tree: Tree): void {
  for (const key of Object.keys(tree)) {
    if (tree[key] === null) continue
    const secret = secretBehind(group, key)
    if (secret !== undefined) delete target[secret]
    if (memberOf(group, key)?.secret !== undefined) delete target[`${key}_file`]
  }
}

function mergeMaps(below: unknown, above: unknown): unknown {
  if (!isRecord(below) || !isRecord(above) || Object.keys(above).length === 0) return above
  return Object.assign(emptyTree(), below, above)
}

/** What has its value from a key of the group: the key, the entries of a map, the secret that it names the file of. */
function placesOf(group: GroupSetting, at: Path, value: unknown): Path[] {
  const key = at.at(-1) as string
  const entries = memberOf(group, key)?.kind === 'map' && isRecord(value) ? Object.keys(value) : []
  const secret = value === null ? undefined : secretBehind(group, key)
  return [at, ...entries.map((name) => [...at, name]), ...(secret === undefined ? [] : [[...at.slice(0, -1), secret]])]
}

function notAMap(member: GroupSetting, at: Path, value: unknown, origin: Origin) {
  const [key, first] = Object.entries(member.members)[0] ?? ['', undefined]
  return {
    path: showPath(at),
    message: `must be a map of its keys, not ${show(value)} (${placeIn(origin, at)}).`,
    example: exampleAt([...at, key], first?.example, origin),
  }
}
