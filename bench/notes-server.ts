import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchDirectory } from './bench-directory.ts'
import { cloneNotes } from './clone-notes.ts'
import { cloneNotesOnPostgres } from './clone-notes-postgres.ts'
import { fillNotes } from './fill-notes.ts'
import { loadPost } from './load.ts'
import { sampleNote } from './notes-data.ts'
import { type ServerProcess, start, startProduct, TOKEN } from './server-process.ts'

const YARDSTICK = fileURLToPath(new URL('yardstick-server.ts', import.meta.url))

export interface NotesServer {
  product: ServerProcess
  directory: string
  /** Path of the knowledge endpoints of the project with the notes. */
  base: string
  noteIds: string[]
  /** A file with the path of every note, a line each. */
  pathsFile: string
}

export interface NotesServerOptions {
  links?: number
  databaseUrl?: string
  /** So many times as many notes, by copying rows. */
  times?: number
  env?: Record<string, string>
}

/** The product with a project full of notes. */
export async function startWithNotes(
  say: (text: string) => void,
  notes: number,
  { links, databaseUrl, times = 1, env: more = {} }: NotesServerOptions = {},
): Promise<NotesServer> {
  const directory = benchDirectory()
  const env = {
    COMMONPLACE_ADMIN_TOKEN: TOKEN,
    ...(databaseUrl !== undefined && { COMMONPLACE_DATABASE_URL: databaseUrl }),
    ...more,
  }
  await (await startProduct(directory, env)).stop()
  say(`filling ${notes} notes`)
  const { projectId, noteIds: filled } = await fillNotes(directory, notes, { links, databaseUrl })
  const noteIds = times === 1 ? filled : await cloneAll()
  const product = await startProduct(directory, env)
  const base = `/v2/${projectId}/knowledge`
  const pathsFile = join(directory, 'paths.txt')
  writeFileSync(pathsFile, noteIds.map((id) => `${base}/entities/${id}`).join('\n'))
  return { product, directory, base, noteIds, pathsFile }

  function cloneAll(): string[] | Promise<string[]> {
    return databaseUrl === undefined ? cloneNotes(directory, times, say) : cloneNotesOnPostgres(databaseUrl, times, say)
  }
}

/** Creating notes like those that are there, and adding a line to any of those. */
export function writeLoads(
  { product, base, pathsFile }: NotesServer,
  notes: number,
  load: { seconds: number; connections: number },
) {
  const content = sampleNote(notes).content.replaceAll(`Note ${notes}`, 'Note [<id>]')
  const common = { ...load, headers: { authorization: `Bearer ${TOKEN}` } }
  return {
    create: () =>
      loadPost({
        ...common,
        url: `${product.url}${base}/entities`,
        body: JSON.stringify({ title: 'Note [<id>]', directory: 'new', content }),
      }),
    patch: () =>
      loadPost({
        ...common,
        method: 'PATCH',
        url: product.url,
        pathsFile,
        body: JSON.stringify({ operation: 'append', content: 'One more line [<id>] about [[Note 17]].' }),
      }),
  }
}

/** How many milliseconds it takes to move all of the notes to another folder. */
export async function moveAll({ product, base }: NotesServer, notes: number): Promise<number> {
  const began = performance.now()
  const answer = await fetch(`${product.url}${base}/move-directory`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ source_directory: 'notes', destination_directory: 'elsewhere/deep' }),
  })
  const { successful_moves: moved } = (await answer.json()) as { successful_moves: number }
  if (moved !== notes) throw new Error(`${moved} notes were moved`)
  return performance.now() - began
}

/** Bare routes over a database of their own. */
export async function startYardstick(databaseUrl?: string): Promise<ServerProcess> {
  const directory = benchDirectory()
  const env = {
    COMMONPLACE_ADMIN_TOKEN: TOKEN,
    ...(databaseUrl !== undefined && { COMMONPLACE_DATABASE_URL: databaseUrl }),
  }
  await (await startProduct(directory, env)).stop()
  return start([YARDSTICK, directory, ...(databaseUrl === undefined ? [] : [databaseUrl])], /(http:\S+)/)
}
