import type { Reader } from '../../platform/storage/database.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { requireNote } from '../note/look-up.ts'
import type { Note, NoteRef, Project } from '../note/note.ts'
import type { NotePlace } from '../note/note-service.ts'
import { findNoteById } from '../note/store-notes.ts'
import { requireProject } from '../project/look-up.ts'
import { splitText } from '../text/frontmatter/frontmatter.ts'
import { turnAfter } from '../text/steps.ts'
import { findPhrase, paragraphAt, snippet } from './snippet.ts'
import { type BacklinkRow, findBacklinks, findMentioning, LINK_ENDS, TYPE_ENDS } from './store-backlinks.ts'

export interface Backlink {
  note: NoteRef
  relationType: string
  context: string | null
  anchor: string | null
  display: string | null
  /** Null where the link is not written as its target is called. */
  snippet: string | null
}

export interface Mention {
  note: NoteRef
  snippet: string
}

export interface BacklinkPage {
  backlinks: Backlink[]
  hasMore: boolean
  /** On the first page only. */
  mentions: Mention[]
}

const MOST_MENTIONS = 20
const SHORTEST_TITLE = 2
// Of notes behind the first twenty that have the words of a title, but not its signs: "C" for "C++". In UTF-16 units.
const MOST_LOOKED_THROUGH = 2_000_000
const TEXT_PER_TURN = 200_000
// To read a note costs as much as to look through so much of one.
const TEXT_PER_NOTE = TEXT_PER_TURN / 4

/** The first page waits for the index of words, by which mentions are found; links do without it. */
export async function readBacklinks(
  { db, searchIndex }: Pick<KnowledgeDeps, 'db' | 'searchIndex'>,
  { projectId, noteId }: NotePlace,
  asked: { page: number; pageSize: number },
): Promise<BacklinkPage> {
  if (asked.page === 1) {
    const project = await requireProject(db, projectId)
    await requireNote(db, project, noteId)
    // NOTE Not `caughtUp`: while the index cannot be written, nobody misses a link for want of a mention.
    await searchIndex.catchUp(project)
  }
  return db.read(async (snapshot) => {
    const project = await requireProject(snapshot, projectId)
    return backlinksOf(snapshot, project, await requireNote(snapshot, project, noteId), asked)
  })
}

export async function backlinksOf(
  reader: Reader,
  project: Project,
  note: Note,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<BacklinkPage> {
  const rows = await findBacklinks(reader, note.id, pageSize + 1, (page - 1) * pageSize)
  return {
    backlinks: rows.slice(0, pageSize).map(toBacklink),
    hasMore: rows.length > pageSize,
    mentions: page === 1 ? await mentionsOf(reader, project, note) : [],
  }
}

function toBacklink(row: BacklinkRow): Backlink {
  const { id, external_id, title, permalink, file_path } = row
  const link = `[[${row.to_name}`
  const at = placeOfRelation(row.around, row.relation_type, link)
  return {
    note: { id, external_id, title, permalink, file_path },
    relationType: row.relation_type,
    context: row.context,
    anchor: row.anchor,
    display: row.display,
    snippet: at < 0 ? null : around(row.around, at, link.length),
  }
}

/** Of several links of that name the one that has the type before it: others may stand in prose. */
function placeOfRelation(text: string, type: string, link: string): number {
  for (const end of TYPE_ENDS) {
    const at = placeOfLink(text, type + end + link)
    if (at >= 0) return at + type.length + end.length
  }
  return placeOfLink(text, link)
}

/** -1 where only longer names begin so. */
function placeOfLink(text: string, link: string): number {
  let at = text.indexOf(link)
  while (at >= 0 && !LINK_ENDS.some((end) => text.startsWith(end, at + link.length))) at = text.indexOf(link, at + 1)
  return at
}

function around(text: string, at: number, length: number): string {
  const paragraph = paragraphAt(text, at)
  return snippet(paragraph.text, paragraph.at, length)
}

/** Notes whose text has the title of the note but no link to it. */
async function mentionsOf(reader: Reader, project: Project, note: Note): Promise<Mention[]> {
  if (note.title.length < SHORTEST_TITLE) return []
  const mentions: Mention[] = []
  let length = 0
  const breathe = turnAfter(TEXT_PER_TURN)
  for (const [at, id] of (await findMentioning(reader, project, note.id, note.title)).entries()) {
    if (mentions.length === MOST_MENTIONS || (at >= MOST_MENTIONS && length > MOST_LOOKED_THROUGH)) break
    // One text at a time: each may be large.
    const other = await findNoteById(reader, id)
    const read = other?.content.length ?? 0
    length += read
    await breathe(Math.max(read, TEXT_PER_NOTE))
    const place = other === undefined ? null : findPhrase(splitText(other.content).body, note.title)
    if (other === undefined || place === null) continue
    const { external_id, title, permalink, file_path } = other
    mentions.push({
      note: { id, external_id, title, permalink, file_path },
      snippet: snippet(place.text, place.at, place.length),
    })
  }
  return mentions
}
