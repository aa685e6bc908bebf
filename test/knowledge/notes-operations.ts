/** Who may call an operation on notes, as the contract says it and not as the code does. */
export interface NotesOperation {
  permission: 'notes_read' | 'notes_write' | 'projects_write'
  /** Good enough to reach the look-up of the project, which nobody has: every operation is 404 then. */
  body?: unknown
}

const read = (body?: unknown): NotesOperation => ({ permission: 'notes_read', body })
const write = (body?: unknown): NotesOperation => ({ permission: 'notes_write', body })

/** Every operation on what is in a project; one that is missing here fails the authorization test. */
export const NOTES_OPERATIONS: Readonly<Record<string, NotesOperation>> = {
  'POST /v2/{project_id}/knowledge/entities': write({ title: 'Intruder' }),
  'GET /v2/{project_id}/knowledge/entities/{entity_id}': read(),
  'PUT /v2/{project_id}/knowledge/entities/{entity_id}': write({ title: 'Intruder' }),
  'PATCH /v2/{project_id}/knowledge/entities/{entity_id}': write({ operation: 'append', content: 'intruded' }),
  'DELETE /v2/{project_id}/knowledge/entities/{entity_id}': write(),
  'PUT /v2/{project_id}/knowledge/entities/{entity_id}/move': write({ destination_path: 'intruded.md' }),
  'POST /v2/{project_id}/knowledge/batch': write({ operations: [{ op: 'create', title: 'Intruder' }] }),
  'POST /v2/{project_id}/knowledge/move-directory': write({ source_directory: 'vault', destination_directory: 'out' }),
  'POST /v2/{project_id}/knowledge/delete-directory': write({ directory: 'vault' }),
  'GET /v2/{project_id}/knowledge/entities/{entity_id}/backlinks': read(),
  'GET /v2/{project_id}/knowledge/entities/{entity_id}/revisions': read(),
  'GET /v2/{project_id}/knowledge/entities/{entity_id}/revisions/{version}': read(),
  'GET /v2/{project_id}/knowledge/entities/{entity_id}/revisions/diff': read(),
  'POST /v2/{project_id}/knowledge/entities/{entity_id}/restore': write({ version: 1 }),
  'GET /v2/{project_id}/knowledge/trash': read(),
  'POST /v2/{project_id}/knowledge/trash/{entity_id}/restore': write({}),
  'DELETE /v2/{project_id}/knowledge/trash/{entity_id}': write(),
  'GET /v2/{project_id}/knowledge/changes': read(),
  'GET /v2/{project_id}/knowledge/graph': read(),
  'GET /v2/{project_id}/knowledge/orphans': read(),
  'POST /v2/{project_id}/knowledge/resolve': read({ identifier: 'Secret plan' }),
  'POST /v2/{project_id}/knowledge/links/resolve': read({ identifier: 'Secret plan' }),
  'GET /v2/{project_id}/directory/tree': read(),
  'GET /v2/{project_id}/directory/structure': read(),
  'GET /v2/{project_id}/directory/list': read(),
  'GET /v2/{project_id}/resource/{entity_id}': read(),
  'GET /v2/{project_id}/memory/recent': read(),
  'GET /v2/{project_id}/memory/{uri}': read(),
  'POST /v2/{project_id}/prompt/continue-conversation': read({ topic: 'secret' }),
  'POST /v2/{project_id}/prompt/search': read({ query: 'secret' }),
  'POST /v2/{project_id}/search/': read({ text: 'secret' }),
  'POST /v2/{project_id}/search/reindex': { permission: 'projects_write' },
  'POST /v2/{project_id}/inspect/query': read({ text: 'secret' }),
  'POST /v2/{project_id}/inspect/chunks': read({ identifier: 'Secret plan' }),
}
