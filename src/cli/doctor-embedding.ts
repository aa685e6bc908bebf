import { isSemantic, openProvider } from '../knowledge/semantic/open-provider.ts'
import { embeddingTrouble } from '../knowledge/semantic/sync/store-status.ts'
import { EmbedThread } from '../knowledge/semantic/thread/embed-thread.ts'
import type { Clock } from '../platform/clock/clock.ts'
import { isAppError } from '../platform/errors/app-error.ts'
import { OutboundClient } from '../platform/outbound/outbound-client.ts'
import type { Reader } from '../platform/storage/database.ts'
import type { Settings } from '../settings.ts'
import { type Finding, ok, warning } from './doctor-finding.ts'

const CHECK = 'embedding'
const ADVICE = 'searches find by words only until it works; see knowledge.embedding_provider and the settings beside it'

/** Whether the provider of the settings makes a vector, asked once. */
export async function checkProvider(settings: Settings['knowledge'], clock: Clock): Promise<Finding> {
  if (!isSemantic(settings)) return ok(CHECK, 'search by meaning is switched off')
  const outbound = new OutboundClient({ clock })
  await using thread = new EmbedThread({ clock })
  try {
    await using provider = await openProvider({ clock, outbound, thread, settings })
    await provider.embed(['commonplace doctor'], 'query')
    const { name, dimensions } = provider.model
    return ok(CHECK, `the provider "${settings.embedding_provider}" answers (${name}, ${dimensions} dimensions)`)
  } catch (error) {
    if (!isAppError(error)) throw error
    return warning(CHECK, error.message, ADVICE)
  } finally {
    await outbound.close()
  }
}

/** What the server could not embed. */
export async function checkEmbeddings(reader: Reader): Promise<Finding> {
  const { failed, projects, lastError } = await embeddingTrouble(reader)
  const notes = failed === 1 ? '1 note' : `${failed} notes`
  if (projects > 0)
    return warning(
      'vectors',
      `notes of ${projects} ${projects === 1 ? 'project' : 'projects'} wait for vectors: ${lastError}`,
      ADVICE,
    )
  if (failed === 0) return ok('vectors', 'no note failed to be embedded')
  return warning('vectors', `${notes} could not be embedded`, 'see embedding_status of the project, then reindex it')
}
