import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LONGEST_MS } from '../../src/knowledge/batch/batch-service.ts'
import { MOST_OPERATIONS } from '../../src/knowledge/batch/schema-batch.ts'
import { LONGEST_CONTENT } from '../../src/knowledge/context/context-item.ts'
import { MOST_STREAMS, MOST_STREAMS_OF_CALLER } from '../../src/knowledge/history/change-streams.ts'
import { TOMBSTONES_KEPT_MS } from '../../src/knowledge/history/changes-feed.ts'
import { MOST_INCOMING, MOST_OUTGOING } from '../../src/knowledge/link/store-relations.ts'
import { MAX_CONTENT, MAX_LINES } from '../../src/knowledge/note/note-input.ts'
import { LONGEST_SHOWN } from '../../src/knowledge/note/store-shown.ts'
import { LONGEST_NAME } from '../../src/knowledge/project/project-name.ts'
import { LONGEST_PATH } from '../../src/knowledge/project/project-path.ts'
import { LONGEST_TOPIC } from '../../src/knowledge/prompt/schema-prompt.ts'
import { LONGEST_EXCERPT } from '../../src/knowledge/prompt/write-note-part.ts'
import { LONGEST_PROMPT } from '../../src/knowledge/prompt/write-prompt.ts'
import { MAX_LINK_NAME } from '../../src/knowledge/text/body/wikilinks.ts'
import { BOUNDS, MAX_DEPTH, MAX_KEY, MAX_YAML } from '../../src/knowledge/text/frontmatter/yaml-bounds.ts'

const GUIDE = readFileSync(new URL('../../docs/knowledge.md', import.meta.url), 'utf8')
const REFERENCE = readFileSync(new URL('../../docs/knowledge-reference.md', import.meta.url), 'utf8')
const DAY_MS = 86_400_000

test('the pages about notes name the limits that the code has', () => {
  const limits = new Map(
    Array.from(REFERENCE.matchAll(/^\| ([^|]+) \| ([^|]+) \| [^|]*\|$/gm), ([, what, limit]) => [what, limit] as const),
  )
  for (const [what, numbers] of [
    ['Text of a note, without its frontmatter', [MAX_CONTENT]],
    ['Lines of a note', [MAX_LINES]],
    ['Frontmatter', [MAX_YAML, MAX_DEPTH, MAX_KEY, BOUNDS.pieces]],
    ['Target of a link', [MAX_LINK_NAME]],
    ['Operations in a batch', [1, MOST_OPERATIONS, LONGEST_MS / 1_000]],
    ['Outgoing, incoming relations in an answer', [MOST_OUTGOING, MOST_INCOMING]],
    [
      'Type of a relation, category, context, display text of a link, beside those of the note that is asked for',
      [LONGEST_SHOWN],
    ],
    ['Context: an observation; those of a note', [LONGEST_CONTENT]],
    ['Prompt: whole; excerpt of a note; topic or query', [LONGEST_PROMPT, LONGEST_EXCERPT, LONGEST_TOPIC]],
    ['Streams of changes', [MOST_STREAMS, MOST_STREAMS_OF_CALLER]],
    ['Project: name, path', [LONGEST_NAME, LONGEST_PATH]],
  ] as const) {
    assert.deepEqual(numbersIn(limits.get(what)).slice(0, numbers.length), numbers, what)
  }
  assert.ok(GUIDE.includes(`older than ${TOMBSTONES_KEPT_MS / DAY_MS} days`))
})

function numbersIn(text = ''): number[] {
  return Array.from(text.matchAll(/\d[\d,]*/g), ([number]) => Number(number.replaceAll(',', '')))
}
