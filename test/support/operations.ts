/** The operations of the server, by what it offers and by what pages say. */
import type { TestServer } from './start-server.ts'

const METHODS = 'GET|POST|PUT|PATCH|DELETE'

/**
 * `GET /users` of every operation that a table of a page names in its first cell. A cell may name several, also as the
 * methods of one path: a method without a path has that of the next one that has one.
 */
export function listedOperations(page: string): string[] {
  return [...page.matchAll(new RegExp(`^\\| (\`(?:${METHODS})\\b[^|]*) \\|`, 'gm'))].flatMap(([, cell = '']) => {
    const named = [...cell.matchAll(/`([A-Z]+)(?: (\/[^`]+))?`/g)].map(([, method, path]) => ({ method, path }))
    return named.map(({ method }, at) => `${method} ${named.slice(at).find(({ path }) => path !== undefined)?.path}`)
  })
}

/** `GET /users` of every operation in /openapi.json whose path is meant. */
export async function offeredOperations(
  server: Pick<TestServer, 'url'>,
  isMeant: (path: string) => boolean,
): Promise<string[]> {
  const answer = await fetch(`${server.url}/openapi.json`)
  const { paths } = (await answer.json()) as { paths: Record<string, object> }
  return Object.entries(paths)
    .filter(([path]) => isMeant(path))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .sort()
}
