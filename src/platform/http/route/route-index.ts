interface Branch<T> {
  fixed: Map<string, Branch<T>>
  any: Branch<T> | null
  /** By what a part begins with before its parameter: `@` of `@:name`. */
  begun: Map<string, Branch<T>> | null
  rest: T | null
  here: T | null
}

/**
 * Which patterns match a path, whatever the method. The router knows routes by method only, and asking it for each
 * method in turn would need its private parts; this is asked when a request found no route, to tell 405 from 404.
 */
export class RouteIndex<T> {
  readonly #root: Branch<T> = branch()

  /** What is kept for the pattern, made on first use. */
  at(pattern: string, make: () => T): T {
    let node = this.#root
    for (const part of parts(pattern)) {
      if (part === '*') {
        node.rest ??= make()
        return node.rest
      }
      const colon = part.indexOf(':')
      if (colon === 0) {
        node.any ??= branch()
        node = node.any
      } else if (colon > 0) {
        node.begun ??= new Map()
        node = childOf(node.begun, part.slice(0, colon))
      } else node = childOf(node.fixed, part)
    }
    node.here ??= make()
    return node.here
  }

  find(path: string): T | null {
    return search(this.#root, parts(path), 0)
  }
}

function branch<T>(): Branch<T> {
  return { fixed: new Map(), any: null, begun: null, rest: null, here: null }
}

function childOf<T>(children: Map<string, Branch<T>>, name: string): Branch<T> {
  const child = children.get(name) ?? branch<T>()
  children.set(name, child)
  return child
}

// One slash at the end is ignored, as the router does.
function parts(path: string): string[] {
  return (path.endsWith('/') ? path.slice(0, -1) : path).split('/').slice(1)
}

function search<T>(node: Branch<T>, path: string[], depth: number): T | null {
  // A `*` stands for one part at least, as in the router.
  if (depth === path.length) return node.here
  const part = path[depth] as string
  const fixed = node.fixed.get(part)
  const found = fixed === undefined ? null : search(fixed, path, depth + 1)
  if (found !== null) return found
  for (const [beginning, child] of node.begun ?? []) {
    if (part.length <= beginning.length || !part.startsWith(beginning)) continue
    const within = search(child, path, depth + 1)
    if (within !== null) return within
  }
  const any = node.any === null || part === '' ? null : search(node.any, path, depth + 1)
  return any ?? node.rest
}
