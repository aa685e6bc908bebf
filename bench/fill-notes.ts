/** Many notes through the service that the API calls, without HTTP: the data directory of a server that is not running. */
import { type KnowledgeDeps, NoteService } from '../src/knowledge/index.ts'
import type { OrganizationId, Principal } from '../src/platform/auth/principal.ts'
import { SystemClock } from '../src/platform/clock/clock.ts'
import { createLogger } from '../src/platform/logging/logger.ts'
import { openDatabase } from '../src/platform/storage/open.ts'
import { loadSettings } from '../src/settings.ts'
import { sampleNote } from './notes-data.ts'

const AT_ONCE = 256

export interface Filled {
  projectId: string
  noteIds: string[]
}

/** Notes numbered from 0, spread over folders; they link to one another. */
export async function fillNotes(
  dataDir: string,
  count: number,
  {
    databaseUrl = null as string | null,
    links = 5,
    size = 2_000,
    folder = 'notes',
    sample = (number: number) => sampleNote(number, { size, links, folder }),
  } = {},
): Promise<Filled> {
  const clock = new SystemClock()
  const log = createLogger({ level: 'error', format: 'json' })
  const db = await openDatabase({ dataDir, databaseUrl, clock, log })
  const project = await db.query.selectFrom('projects').select('external_id').executeTakeFirstOrThrow()
  const organization = await db.query.selectFrom('organizations').select('id').executeTakeFirstOrThrow()
  const principal: Principal = {
    kind: 'system',
    userId: null,
    organizationId: organization.id as OrganizationId,
    permissions: new Set(),
    method: 'cli',
    credentialId: null,
    csrfToken: null,
  }
  const { settings } = await loadSettings({ mode: 'cli', env: {}, cwd: dataDir })
  const notes = new NoteService({ db, clock, log, settings: settings.knowledge } as unknown as KnowledgeDeps)
  const noteIds: string[] = []
  let next = 0
  async function work(): Promise<void> {
    while (next < count) {
      const number = next++
      const input = { ...sample(number), noteType: null, metadata: { tags: ['sample'] } }
      const { external_id: id } = await notes.create({ principal }, project.external_id, input)
      noteIds.push(id)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await db.close()
  return { projectId: project.external_id, noteIds }
}
