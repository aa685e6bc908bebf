interface Branch<T> {
  fixed: Map<string, Branch<T>>
  any: Branch<T> | null
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
      if (part.includes(':')) {
        node.any ??= branch()
        node = node.any
      } else {
        let next = node.fixed.get(part)
        if (next === undefined) {
          next = branch()
          node.fixed.set(part, next)
        }
        node = next
      }
    }
    node.here ??= make()
    return node.here
  }

  find(path: string): T | null {
    return search(this.#root, parts(path), 0)
  }
}

function branch<T>(): Branch<T> {
  return { fixed: new Map(), any: null, rest: null, here: null }
}

// One slash at the end is ignored, as the router does.
function parts(path: string): string[] {
  return (path.endsWith('/') ? path.slice(0, -1) : path).split('/').slice(1)
}

function search<T>(node: Branch<T>, path: string[], depth: number): T | null {
  if (depth === path.length) return node.here ?? node.rest
  const part = path[depth] as string
  const fixed = node.fixed.get(part)
  const found = fixed === undefined ? null : search(fixed, path, depth + 1)
  if (found !== null) return found
  const any = node.any === null || part === '' ? null : search(node.any, path, depth + 1)
  return any ?? node.rest
}
