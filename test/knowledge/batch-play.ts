import { BatchService } from '../../src/knowledge/batch/batch-service.ts'
import type { BatchOperation } from '../../src/knowledge/batch/schema-batch.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { type ModelNote, type NotesModel, Refused } from './notes-model.ts'
import { appending, inputOf, noteOf, type Play, pathOf, playOf, retitling, type Step } from './notes-play.ts'
import type { NotesWorld } from './notes-world.ts'

/** Several steps in one request. */
export interface BatchStep {
  kind: 'batch'
  isAtomic: boolean
  steps: readonly Step[]
}

const DONE = 'done'

/** The model goes ahead: what an operation is about depends on what those before it did. */
export function playBatch({ isAtomic, steps }: BatchStep, model: NotesModel, world: NotesWorld): Play | null {
  const goBack = remember(model)
  const operations: BatchOperation[] = []
  const foreseen: string[] = []
  let refused: Refused | undefined
  for (const step of steps) {
    const play = refused === undefined || !isAtomic ? playOf(step, model, world) : null
    if (play === null) continue
    const id = noteOf(step, model)?.externalId ?? newId()
    operations.push(operationOf(step, id, noteOf(step, model)))
    try {
      play.model(id)
      foreseen.push(DONE)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      foreseen.push(error.code)
      refused ??= error
    }
  }
  if (operations.length === 0) return null
  if (isAtomic && refused !== undefined) goBack()
  return {
    real: async () => ({ result: await run(world, operations, isAtomic) }),
    model: () => {
      if (isAtomic && refused !== undefined) throw refused
      return foreseen
    },
  }
}

async function run({ deps, writer, projectId }: NotesWorld, operations: readonly BatchOperation[], isAtomic: boolean) {
  const batches = new BatchService(deps)
  if (isAtomic) return (await batches.runAtomically(writer, projectId, operations)).map(() => DONE)
  return (await batches.runEach(writer, projectId, operations)).map((outcome) => {
    if (!('error' in outcome)) return DONE
    if (isAppError(outcome.error)) return outcome.error.code
    throw outcome.error
  })
}

function operationOf(step: Step, id: string, known: ModelNote | undefined): BatchOperation {
  const on = { entity_id: id }
  switch (step.kind) {
    case 'create':
    case 'put':
    case 'put again': {
      const { title, directory, content } = inputOf(step)
      return { op: 'put', ...on, title, directory, content }
    }
    case 'append':
      return { op: 'patch', ...on, ...appending(step.link) }
    case 'alias':
      return { op: 'patch', ...on, operation: 'append', content: '', metadata: { aliases: step.aliases } }
    case 'retitle':
      return { op: 'patch', ...on, ...retitling(known?.title ?? '', step.title) }
    case 'move':
      return { op: 'move', ...on, destination_path: pathOf(step.folder, step.title) }
    case 'delete':
      return { op: 'delete', ...on }
    default:
      throw new Error(`No operation of a batch: ${step.kind}`)
  }
}

/** What brings the model back to where it is now. */
function remember(model: NotesModel): () => void {
  const { notes, trash, changes } = structuredClone({ ...model })
  return () => void Object.assign(model, { notes, trash, changes })
}
