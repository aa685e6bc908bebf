import { type StartServerOptions, startServer, type TestServer } from '../support/start-server.ts'
import { type Answer, type CallOptions, client, type TestClient } from '../support/test-client.ts'

export const NOBODY = '018f0000-0000-7000-8000-000000000000'

export interface WireRelation {
  direction: 'outgoing' | 'incoming'
  from_id: string
  to_id: string | null
  to_name: string
  relation_type: string
  from_external_id: string
  to_external_id: string | null
  [member: string]: unknown
}

export interface WireNote {
  external_id: string
  id: number
  title: string
  note_type: string
  permalink: string
  file_path: string
  content: string
  entity_metadata: Record<string, unknown>
  observations: { category: string; content: string; tags: string[]; context: string | null; permalink: string }[]
  relations: WireRelation[]
  created_at: string
  updated_at: string
  checksum: string
  version: number
}

type Wish = Record<string, unknown> & { title?: unknown }

/** A running server, and the notes of one project of it. */
export class NotesApi implements AsyncDisposable {
  readonly server: TestServer
  readonly api: TestClient
  readonly projectId: string
  /** Of everything about notes, with the project in it. */
  readonly base: string

  static async start(options?: StartServerOptions): Promise<NotesApi> {
    const server = await startServer(options)
    const api = client(server)
    const { body } = await api.get('/v2/projects', 200)
    return new NotesApi(server, api, body.projects[0].external_id)
  }

  private constructor(server: TestServer, api: TestClient, projectId: string) {
    this.server = server
    this.api = api
    this.projectId = projectId
    this.base = `/v2/${projectId}/knowledge`
  }

  /** Another project of the same server. */
  async project(name: string): Promise<NotesApi> {
    const { body } = await this.api.post('/v2/projects', 201, { body: { name } })
    return new NotesApi(this.server, this.api, body.new_project.external_id)
  }

  async create(wish: Wish): Promise<WireNote> {
    return (await this.post(wish, 201)).body
  }

  post(wish: Wish | string, status: number, options: CallOptions = {}): Promise<Answer<WireNote & Failure>> {
    return this.api.post(`${this.base}/entities`, status, { body: wish, ...options })
  }

  async get(id: string, status = 200, options?: CallOptions): Promise<WireNote> {
    return (await this.api.get(this.at(id), status, options)).body
  }

  put(id: string, wish: Wish, status: number, headers?: Record<string, string>): Promise<Answer<WireNote & Failure>> {
    return this.api.put(this.at(id), status, { body: wish, ...(headers && { headers }) })
  }

  patch(
    id: string,
    edit: Record<string, unknown>,
    status: number,
    headers?: Record<string, string>,
  ): Promise<Answer<WireNote & Failure>> {
    return this.api.patch(this.at(id), status, { body: edit, ...(headers && { headers }) })
  }

  move(id: string, destination: string, status: number, more: object = {}, headers?: Record<string, string>) {
    const body = { destination_path: destination, ...more }
    return this.api.put<WireNote & Failure & { links_updated?: unknown }>(`${this.at(id)}/move`, status, {
      body,
      ...(headers && { headers }),
    })
  }

  async delete(id: string, headers?: Record<string, string>): Promise<boolean> {
    return (await this.api.delete(this.at(id), 200, { ...(headers && { headers }) })).body.deleted
  }

  moveDirectory(source: string, destination: string, status = 200, more: object = {}) {
    const body = { source_directory: source, destination_directory: destination, ...more }
    return this.api.post(`${this.base}/move-directory`, status, { body })
  }

  deleteDirectory(directory: string, status = 200) {
    return this.api.post(`${this.base}/delete-directory`, status, { body: { directory } })
  }

  batch(operations: readonly object[], status = 200, more: object = {}, headers?: Record<string, string>) {
    const body = { operations, ...more }
    return this.api.post<BatchAnswer & Failure>(`${this.base}/batch`, status, { body, ...(headers && { headers }) })
  }

  async graph(): Promise<{
    nodes: { external_id: string; file_path: string }[]
    edges: { from_id: string; to_id: string }[]
  }> {
    return (await this.api.get(`${this.base}/graph`, 200)).body
  }

  /** The paths of all notes. */
  async paths(): Promise<string[]> {
    return (await this.graph()).nodes.map(({ file_path: path }) => path)
  }

  at(id: string): string {
    return `${this.base}/entities/${id}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop()
  }
}

export interface BatchAnswer {
  results: {
    index: number
    op: string
    status: number
    entity?: {
      external_id: string
      entity_id: number
      title: string
      permalink: string | null
      file_path: string
      version: number
      etag: string
    }
    deleted?: boolean
    error?: { detail: string }
  }[]
  succeeded: number
  failed: number
}

export interface Failure {
  detail: string
  /** Of an atomic batch: the operation that failed. */
  index?: number
  errors?: { loc: string[]; msg: string; type: string }[]
  db_checksum?: string | null
}

/** The text without its frontmatter. */
export function bodyOf({ content }: { content: string }): string {
  return content.replace(/^---\n[\s\S]*?\n---\n\n?/, '')
}

/** What the frontmatter says, as it stands there. */
export function headOf({ content }: { content: string }): string {
  return /^---\n([\s\S]*?\n)---\n/.exec(content)?.[1] ?? ''
}
