/** The four public faces and the server's own paths. Each has its error body. */
export type Surface = 'instance' | 'users' | 'knowledge' | 'callbacks' | 'platform'

export const SURFACES: readonly Surface[] = ['users', 'instance', 'knowledge', 'callbacks', 'platform']

const INSTANCE_V2 = /^\/api\/v2\/instance(?:\.json)?\/?$/

/** For requests that no operation answers; an operation says itself where it belongs. */
export function surfaceOf(path: string): Surface {
  if (path.startsWith('/api/')) {
    if (isUnder(path, '/api/v1/namespaces')) return 'callbacks'
    if (isUnder(path, '/api/v1')) return 'instance'
    if (isUnder(path, '/api/v2')) return INSTANCE_V2.test(path) ? 'instance' : 'users'
    return 'platform'
  }
  if (isUnder(path, '/v2')) return 'knowledge'
  if (isUnder(path, '/namespaces')) return 'callbacks'
  return 'platform'
}

export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** As the router reads it: what is percent-encoded without need is what it stands for. */
export function routedPath(url: string): string {
  const path = pathOf(url)
  try {
    return path.includes('%') ? decodeURI(path) : path
  } catch {
    return path
  }
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
}
