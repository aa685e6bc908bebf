import { createDatabase } from './postgres-database.ts'
import { startServer, type TestServer } from './start-server.ts'
import { startTcpProxy } from './tcp-proxy.ts'

export interface ServerBehindProxy extends AsyncDisposable {
  server: TestServer
  /** From now on PostgreSQL answers nothing, and nobody hangs up. */
  fallSilent(): void
  /** See `TcpProxy`. */
  loseCommitBehind(words: string): void
}

/** A server whose PostgreSQL can fall silent. */
export async function startBehindProxy(more: Record<string, string> = {}): Promise<ServerBehindProxy> {
  await using stack = new AsyncDisposableStack()
  const database = await createDatabase({ migrated: true })
  stack.defer(() => database.drop())
  const proxy = stack.use(await startTcpProxy(database.url))
  const env = { COMMONPLACE_SERVER__SHUTDOWN_TIMEOUT: '1s', ...more }
  const server = stack.use(await startServer({ mode: 'serve', databaseUrl: proxy.url, env }))
  const running = stack.move()
  return {
    server,
    fallSilent: () => proxy.fallSilent(),
    loseCommitBehind: (words) => proxy.loseCommitBehind(words),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
