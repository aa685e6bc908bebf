import type { FastifyInstance, FastifyRequest } from 'fastify'
import { doneBefore, hasKey, keepAnswerIn, renewClaim } from '../../platform/http/answer/idempotent.ts'
import { errorDocument } from '../../platform/http/failure/error-handler.ts'
import { operation } from '../../platform/http/operation.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { etagOf } from '../note/preconditions.ts'
import { ProjectPath } from '../note/schema-notes.ts'
import { writerOf } from '../note/writer-of.ts'
import { projectUrls } from '../project/urls.ts'
import { BatchService, type Outcome } from './batch-service.ts'
import { BatchAnswer, BatchBody, type BatchOperation, type BatchResult } from './schema-batch.ts'

export function batchRoutes(server: FastifyInstance, deps: KnowledgeDeps): void {
  const batches = new BatchService(deps)

  /** A summary, so that the answer stays short whatever the notes hold. */
  function resultOf(request: FastifyRequest, { op }: BatchOperation, outcome: Outcome, index: number): BatchResult {
    if ('error' in outcome) {
      const { status, body } = errorDocument(server.platform, outcome.error, request)
      // The words alone, also where the answer is kept: places in a request of its own are none in this one.
      const { detail } = body as { detail: string }
      return { index, op, status, error: { detail } }
    }
    const { status } = outcome
    if ('isDeleted' in outcome) return { index, op, status, deleted: outcome.isDeleted }
    const { external_id, id, title, permalink, file_path, version } = outcome.note
    const entity = { external_id, entity_id: id, title, permalink, file_path, version, etag: etagOf(outcome.note) }
    return { index, op, status, entity }
  }

  operation(server, {
    method: 'POST',
    ...projectUrls('/knowledge/batch'),
    operationId: 'BatchEntities',
    summary: 'Change up to 100 notes',
    description:
      'Creates, replaces, edits, moves and deletes in the order given, each as its own operation would; a later one sees what an earlier one did. One that fails does not stop the others, and its result has the status and the error it would have been answered with alone. With atomic, all are done in one transaction: the first that fails undoes everything, and the answer is its error, with its index. Results are summaries without texts, so that the answer stays short. A malformed operation refuses the whole request with 422 before anything is changed. With an Idempotency-Key the results of the first request are answered again, those of operations that failed included; when storage does not answer in the middle, the answer is 503, and a repeat with the key goes on behind what was done.',
    surface: 'knowledge',
    access: 'notes_write',
    rateLimit: null,
    idempotent: { isCallersOwn: true },
    schema: { params: ProjectPath, body: BatchBody, response: { 200: BatchAnswer } },
    async handler(request) {
      const { params, body } = request
      const { operations, atomic } = body
      const before = JSON.parse(doneBefore(request) ?? '[]') as BatchResult[]
      // Each once: an error may be logged with it.
      const made = new WeakMap<Outcome, BatchResult>()
      const resultsOf = (outcomes: readonly Outcome[]): BatchResult[] => {
        const results = outcomes.map((outcome, place) => {
          const index = before.length + place
          const result = made.get(outcome) ?? resultOf(request, operations[index] as BatchOperation, outcome, index)
          made.set(outcome, result)
          return result
        })
        return [...before, ...results]
      }
      const answerOf = (outcomes: readonly Outcome[]): BatchAnswer => {
        const results = resultsOf(outcomes)
        const failed = results.filter(({ error }) => error !== undefined).length
        return { results, succeeded: results.length - failed, failed }
      }
      const asked = [writerOf(request), params.project_id, operations.slice(before.length)] as const
      const outcomes = atomic
        ? await batches.runAtomically(...asked, (tx, done) =>
            keepAnswerIn(tx, request, () => ({ status: 200, headers: {}, body: JSON.stringify(answerOf(done)) })),
          )
        : await batches.runEach(
            ...asked,
            (tx, done) => renewClaim(tx, request, () => JSON.stringify(resultsOf(done))),
            { goesOnLater: hasKey(request) },
          )
      return answerOf(outcomes)
    },
  })
}
