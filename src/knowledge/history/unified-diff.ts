import type { Steps } from '../text/steps.ts'
import { diffLines, type LineChange, linesOf } from './line-diff.ts'

export interface UnifiedDiff {
  /** Empty when the texts are equal. */
  text: string
  added: number
  removed: number
}

const CONTEXT = 3
const NO_LINE_END = '\n\\ No newline at end of file\n'

interface Labelled {
  label: string
  text: string
}

/** The difference of two texts in the format that `patch` and people read. */
export function* unifiedDiff(before: Labelled, after: Labelled): Steps<UnifiedDiff> {
  const old = linesOf(before.text)
  const now = linesOf(after.text)
  const changes = yield* diffLines(old, now)
  if (changes.length === 0) return { text: '', added: 0, removed: 0 }
  const parts = [`--- ${oneLine(before.label)}\n+++ ${oneLine(after.label)}\n`]
  for (const hunk of hunksOf(changes)) parts.push(hunkText(hunk, old, now))
  return {
    text: parts.join(''),
    added: changes.reduce((sum, change) => sum + change.newEnd - change.newStart, 0),
    removed: changes.reduce((sum, change) => sum + change.oldEnd - change.oldStart, 0),
  }
}

/** Changes whose contexts touch stand in one hunk. */
function hunksOf(changes: readonly LineChange[]): LineChange[][] {
  const hunks: LineChange[][] = []
  for (const change of changes) {
    const hunk = hunks.at(-1)
    const last = hunk?.at(-1)
    if (hunk !== undefined && last !== undefined && change.oldStart - last.oldEnd <= 2 * CONTEXT) hunk.push(change)
    else hunks.push([change])
  }
  return hunks
}

function hunkText(hunk: readonly LineChange[], old: readonly string[], now: readonly string[]): string {
  const first = hunk[0] as LineChange
  const last = hunk.at(-1) as LineChange
  const lead = Math.min(CONTEXT, first.oldStart)
  const trail = Math.min(CONTEXT, old.length - last.oldEnd)
  const start = { old: first.oldStart - lead, now: first.newStart - lead }
  const end = { old: last.oldEnd + trail, now: last.newEnd + trail }
  const lines = [`@@ -${range(start.old, end.old)} +${range(start.now, end.now)} @@\n`]
  let at = start.old
  for (const { oldStart, oldEnd, newStart, newEnd } of hunk) {
    for (; at < oldStart; at++) lines.push(line(' ', old[at]))
    for (; at < oldEnd; at++) lines.push(line('-', old[at]))
    for (let added = newStart; added < newEnd; added++) lines.push(line('+', now[added]))
  }
  for (; at < end.old; at++) lines.push(line(' ', old[at]))
  return lines.join('')
}

/** Lines count from one; an empty range names the line before it. */
function range(start: number, end: number): string {
  const count = end - start
  return `${count === 0 ? start : start + 1}${count === 1 ? '' : `,${count}`}`
}

function line(sign: string, text = ''): string {
  return text.endsWith('\n') ? `${sign}${text}` : `${sign}${text}${NO_LINE_END}`
}

function oneLine(label: string): string {
  return label.replaceAll(/[\r\n]/g, ' ')
}
