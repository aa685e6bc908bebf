import { RevisionService } from '../../src/knowledge/history/revision-service.ts'
import { TrashService } from '../../src/knowledge/history/trash-service.ts'
import { MoveService } from '../../src/knowledge/move/move-service.ts'
import type { NoteInput } from '../../src/knowledge/note/note-input.ts'
import type { EntityDocument } from '../../src/knowledge/note/schema-notes.ts'
import type { ModelLink, ModelNote, ModelText, NotesModel } from './notes-model.ts'
import type { NotesWorld } from './notes-world.ts'

/** What a caller writes; names that it does not mention are null. */
export interface WrittenText {
  aliases: readonly string[] | null
  permalink: string | null
  links: readonly ModelLink[]
}

/** `who` and `which` are counted around the notes that are there, so that every step can be taken. */
export type Step =
  | { kind: 'create'; title: string; folder: string; text: WrittenText }
  | { kind: 'put'; who: number; title: string; folder: string; text: WrittenText }
  | { kind: 'put again'; which: number; title: string; folder: string; text: WrittenText }
  | { kind: 'append'; who: number; link: ModelLink }
  | { kind: 'alias'; who: number; aliases: readonly string[] | null }
  | { kind: 'retitle'; who: number; title: string }
  | { kind: 'move'; who: number; title: string; folder: string }
  | { kind: 'move directory'; source: string; destination: string }
  | { kind: 'delete'; who: number }
  | { kind: 'delete directory'; directory: string }
  | { kind: 'restore'; which: number }
  | { kind: 'revert'; who: number; version: number }

/** One step, taken by the services and foreseen by the model. */
export interface Play {
  /** A note as the service answered it, or what else came out. */
  real(): Promise<Outcome>
  /** What else comes out. `id` is that of the note that was made. */
  model(id: string): unknown
}

export interface Outcome {
  document?: EntityDocument
  result?: unknown
}

export function playOf(step: Step, model: NotesModel, world: NotesWorld): Play | null {
  const { deps, notes, writer, projectId } = world
  const moves = new MoveService(deps)
  const placeOf = (externalId: string) => ({ projectId, noteId: externalId })
  const note = noteOf(step, model)
  if (note === undefined && ('who' in step || 'which' in step)) return null
  const known = note as ModelNote
  const place = placeOf(known?.externalId)
  switch (step.kind) {
    case 'create': {
      const { title, folder } = step
      return {
        real: async () => ({ document: await notes.create(writer, projectId, inputOf(step)) }),
        model: (id) => model.create(id, pathOf(folder, title), { title, ...newText(step.text) }),
      }
    }
    case 'put':
    case 'put again': {
      const { title, folder, text } = step
      const current = model.notes.find(({ externalId }) => externalId === known.externalId)
      return {
        real: async () => {
          const { document, isNew } = await notes.replace(writer, place, inputOf(step), {})
          return { document, result: isNew }
        },
        model: () => {
          if (current === undefined) model.create(known.externalId, pathOf(folder, title), { title, ...newText(text) })
          else model.put(current, pathOf(folder, title), { title, ...saidText(text) })
          return current === undefined
        },
      }
    }
    case 'append': {
      const edit = appending(step.link)
      return {
        real: async () => ({ document: await notes.edit(writer, place, edit, {}) }),
        model: () => model.edit(known, { links: [...known.links, step.link] }),
      }
    }
    case 'alias': {
      const metadata = { aliases: step.aliases === null ? null : [...step.aliases] }
      const edit = { operation: 'append', content: '', metadata } as const
      return {
        real: async () => ({ document: await notes.edit(writer, place, edit, {}) }),
        model: () => model.edit(known, { aliases: step.aliases ?? [] }),
      }
    }
    case 'retitle': {
      const edit = retitling(known.title, step.title)
      return {
        real: async () => ({ document: await notes.edit(writer, place, edit, {}) }),
        model: () => model.edit(known, { title: step.title }),
      }
    }
    case 'move': {
      const destinationPath = pathOf(step.folder, step.title)
      return {
        real: async () => ({ document: await moves.move(writer, place, { destinationPath, updateLinks: false }, {}) }),
        model: () => model.move(known, destinationPath),
      }
    }
    case 'move directory': {
      const { source, destination } = step
      const wish = { source, destination: destination === '' ? '/' : destination, isAtomic: false }
      return {
        real: async () => {
          const { done, errors } = await moves.moveDirectory(writer, projectId, wish)
          return { result: { done, failed: errors.map(({ path }) => path) } }
        },
        model: () => model.moveDirectory(source, destination),
      }
    }
    case 'delete':
      return {
        real: async () => ({ result: await notes.delete(writer, place, {}) }),
        model: () => {
          model.delete(known)
          return true
        },
      }
    case 'delete directory':
      return {
        real: async () => ({ result: (await moves.deleteDirectory(writer, projectId, step.directory)).done }),
        model: () => model.deleteDirectory(step.directory),
      }
    case 'restore':
      return {
        real: async () => ({ document: await new TrashService(deps).restore(writer, place) }),
        model: () => model.restore(known.externalId),
      }
    case 'revert': {
      const version = 1 + (step.version % known.version)
      return {
        real: async () => ({ document: await new RevisionService(deps).restore(writer, place, version, {}) }),
        model: () => model.revert(known, version),
      }
    }
  }
}

/** The note that a step is about, if any. */
export function noteOf(step: Step, model: NotesModel): ModelNote | undefined {
  if ('who' in step) return at(model.notes, step.who)
  return 'which' in step ? at(model.trash, step.which) : undefined
}

function at<T>(list: readonly T[], index: number): T | undefined {
  return list[index % list.length]
}

export function pathOf(folder: string, title: string): string {
  return `${folder === '' ? '' : `${folder}/`}${title}.md`
}

function bodyOf(links: readonly ModelLink[]): string {
  return links.map(lineOf).join('\n\n')
}

export function appending(link: ModelLink) {
  return { operation: 'append', content: `\n${lineOf(link)}` } as const
}

export function retitling(from: string, to: string) {
  const line = (title: string) => `title: ${title}\ntype: note\n`
  return { operation: 'find_replace', find_text: line(from), content: line(to) } as const
}

function lineOf({ type, text }: ModelLink): string {
  return type === 'links_to' ? `[[${text}]]` : `- ${type} [[${text}]]`
}

export function inputOf({ title, folder, text }: { title: string; folder: string; text: WrittenText }): NoteInput {
  const { aliases, permalink, links } = text
  const lines = [
    ...(aliases === null ? [] : [`aliases: ${JSON.stringify(aliases)}`]),
    ...(permalink === null ? [] : [`permalink: ${permalink}`]),
  ]
  const head = lines.length === 0 ? '' : `---\n${lines.join('\n')}\n---\n\n`
  return { title, directory: folder, content: head + bodyOf(links), noteType: null, metadata: null }
}

function newText({ aliases, permalink, links }: WrittenText) {
  return { aliases: aliases ?? [], permalink, links }
}

/** What a text that replaces another says; of the rest the old one stays. */
function saidText({ aliases, permalink, links }: WrittenText): Partial<ModelText> {
  return { links, ...(aliases !== null && { aliases }), ...(permalink !== null && { permalink }) }
}
