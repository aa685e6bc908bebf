import type { KnowledgeDeps } from '../../src/knowledge/deps.ts'
import { listFolder } from '../../src/knowledge/directory/list-folder.ts'
import { graphText } from '../../src/knowledge/graph/write-graph.ts'
import { namesOf } from '../../src/knowledge/link/names.ts'
import type { Note, Project } from '../../src/knowledge/note/note.ts'
import { NoteService } from '../../src/knowledge/note/note-service.ts'
import type { Writer } from '../../src/knowledge/note/write-transaction.ts'
import { noteTally } from '../../src/knowledge/project/note-tally.ts'
import { NAME_KINDS } from '../../src/knowledge/tables.ts'
import { nameKey } from '../../src/knowledge/text/name/name-key.ts'
import type { Principal } from '../../src/platform/auth/principal.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import { readTallies } from '../../src/platform/tally/store.ts'
import { addProject } from '../support/plain-notes.ts'
import { silentLogger } from '../support/silent-logger.ts'
import type { NamedText } from './naive-resolver.ts'
import type { ModelNote, NotesModel } from './notes-model.ts'
import { relationsOf } from './relations-of.ts'
import { resolveExactly } from './resolve-exactly.ts'

/** One project of a database and what the services need to change its notes. */
export interface NotesWorld {
  deps: KnowledgeDeps
  notes: NoteService
  writer: Writer
  project: Project
  projectId: string
}

const SETTINGS = {
  permalinks_include_project: true,
  update_permalinks_on_move: false,
  disable_permalinks: false,
  kebab_filenames: false,
  entity_cache_ttl: 300_000,
}

export async function openWorld(db: Database, principal: Principal, name: string): Promise<NotesWorld> {
  const project = await addProject(db, name)
  const deps = { db, clock: new SystemClock(), log: silentLogger(), settings: SETTINGS } as unknown as KnowledgeDeps
  return { deps, notes: new NoteService(deps), writer: { principal }, project, projectId: project.externalId }
}

/** Everything that can be seen of the notes of a project, in words that the model has, too. */
export async function seen(
  { deps: { db }, project }: NotesWorld,
  asked: readonly NamedText[],
  sources: readonly (string | null)[],
) {
  return db.read(async (snapshot) => ({
    ...(await notesSeen(snapshot, project)),
    graph: JSON.parse(await graphOf(snapshot, project)),
    folders: await foldersSeen(snapshot, project),
    names: await namesSeen(snapshot, project),
    count: (await readTallies(snapshot, [noteTally(project.id)])).get(noteTally(project.id)),
    changes: await changesSeen(snapshot, project),
    resolved: await resolvedSeen(snapshot, project, asked, sources),
  }))
}

export function foreseen(model: NotesModel, asked: readonly NamedText[], sources: readonly (string | null)[]) {
  const notes = model.notes.toSorted(byPath)
  const relations = Object.fromEntries(notes.map((note) => [note.path, relationsForeseen(model, note)]))
  return {
    notes: notes.map(({ path, externalId, title, permalink, version }) => ({
      path,
      externalId,
      title,
      permalink,
      version,
    })),
    relations,
    graph: {
      nodes: notes.map(({ externalId, title, path }) => ({
        external_id: externalId,
        title,
        note_type: 'note',
        file_path: path,
      })),
      edges: notes.flatMap((note) =>
        shownLinks(note)
          .filter(({ to }) => to !== null)
          .map(({ to, type }) => ({ from_id: note.externalId, to_id: to?.externalId, relation_type: type })),
      ),
    },
    folders: foldersForeseen(notes),
    names: notes.flatMap(namesForeseen).sort(),
    count: notes.length,
    changes: [...model.changes].map(([externalId, change]) => ({ externalId, ...change })),
    resolved: sources.map((source) => asked.map((text) => model.resolve(text, source)?.path ?? null)),
  }
}

async function notesSeen(reader: Reader, project: Project) {
  const rows = await reader.query
    .selectFrom('notes')
    .selectAll()
    .where('project_id', '=', project.id)
    .orderBy('file_path')
    .execute()
  const relations: Record<string, string[]> = {}
  for (const row of rows) {
    const found = await relationsOf(reader, row)
    relations[row.file_path] = found.relations.map(
      ({ direction, from, to, relation_type: type, to_name: name, anchor }) =>
        direction === 'outgoing'
          ? `${type} ${name} -> ${to?.file_path ?? '?'} at ${anchor}`
          : `${from.file_path} -> ${type} ${name} at ${anchor}`,
    )
  }
  const notes = rows.map(({ file_path: path, external_id: externalId, title, permalink, version }) => ({
    path,
    externalId,
    title,
    permalink,
    version,
  }))
  return { notes, relations }
}

function relationsForeseen(model: NotesModel, note: ModelNote): string[] {
  return [
    ...shownLinks(note).map(({ type, name, to, anchor }) => `${type} ${name} -> ${to?.path ?? '?'} at ${anchor}`),
    ...model.notes
      .filter((other) => other !== note)
      .sort(byPath)
      .flatMap((other) =>
        shownLinks(other)
          .filter(({ to }) => to === note)
          .map(({ type, name, anchor }) => `${other.path} -> ${type} ${name} at ${anchor}`),
      ),
  ]
}

/** Of links of one type to one note the first. */
function shownLinks({ bound }: ModelNote) {
  return bound.filter(
    (link, index) =>
      link.to === null || bound.findIndex(({ type, to }) => type === link.type && to === link.to) === index,
  )
}

async function resolvedSeen(
  reader: Reader,
  project: Project,
  asked: readonly NamedText[],
  sources: readonly (string | null)[],
) {
  const resolved = []
  for (const source of sources) {
    const notes = await resolveExactly(reader, project, source, asked)
    resolved.push(notes.map((note) => note?.file_path ?? null))
  }
  return resolved
}

async function graphOf(reader: Reader, project: Project): Promise<string> {
  const query = { projectId: project.id, typeKeys: null, folder: null, limit: null, after: null }
  const chunks: Uint8Array[] = []
  for await (const chunk of graphText(reader, query)) chunks.push(Buffer.from(chunk as string))
  return Buffer.concat(chunks).toString()
}

async function foldersSeen(reader: Reader, project: Project): Promise<string[]> {
  const query = { projectId: project.id, folder: '', depth: 10, glob: null, sort: null, page: 1, pageSize: 200 }
  const { nodes } = await listFolder(reader, query)
  return nodes.map((node) => ('file_path' in node ? `/${node.file_path}` : node.directory_path)).sort()
}

function foldersForeseen(notes: readonly ModelNote[]): string[] {
  const paths = new Set<string>()
  for (const { path } of notes) {
    const parts = path.split('/')
    for (let length = 1; length <= parts.length; length++) paths.add(`/${parts.slice(0, length).join('/')}`)
  }
  return [...paths].sort()
}

async function namesSeen(reader: Reader, project: Project): Promise<string[]> {
  const rows = await reader.query
    .selectFrom('note_names as n')
    .leftJoin('notes', 'notes.id', 'n.note_id')
    .select(['n.kind', 'n.name_key', 'n.value', 'notes.external_id'])
    .where('n.project_id', '=', project.id)
    .execute()
  return rows.map(({ kind, name_key: key, value, external_id: id }) => `${id} ${kind} ${key} ${value}`).sort()
}

function namesForeseen(note: ModelNote): string[] {
  const { externalId, aliases, retired, title, permalink, path } = note
  const current = namesOf({ title, permalink, file_path: path } as Note, aliases)
  const old = [
    ...[...retired.permalinks].map((value) => ({ kind: NAME_KINDS.retiredPermalink, value })),
    ...[...retired.paths].map((value) => ({ kind: NAME_KINDS.retiredPath, value })),
    ...[...retired.titles].map((value) => ({ kind: NAME_KINDS.retiredTitle, value })),
  ].map(({ kind, value }) => ({ kind, value, key: nameKey(value) }))
  return [...current, ...old].map(({ kind, key, value }) => `${externalId} ${kind} ${key} ${value}`)
}

async function changesSeen(reader: Reader, project: Project) {
  const rows = await reader.query
    .selectFrom('note_changes')
    .select(['external_id', 'change', 'version', 'file_path'])
    .where('project_id', '=', project.id)
    .orderBy('seq')
    .execute()
  return rows.map(({ external_id: externalId, change, version, file_path: path }) => ({
    externalId,
    change,
    version,
    path,
  }))
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1
}
