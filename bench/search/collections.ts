// Two kinds of data: the folder of LoCoMo conversations, or a file that tools/embedding/build_corpus.py wrote.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface BenchNote {
  id: string
  title: string
  body: string
}

export interface BenchQuestion {
  text: string
  /** Ids of the notes that hold the answer. */
  relevant: string[]
}

/** What is searched as one project. */
export interface BenchCollection {
  name: string
  documents: BenchNote[]
  questions: BenchQuestion[]
}

interface Turn {
  speaker: string
  text: string
  blip_caption?: string
}

interface Conversation {
  [member: string]: unknown
  speaker_a: string
  speaker_b: string
  qa: { question: string; category: number; evidence?: string[] }[]
}

export function readCollections(path: string): BenchCollection[] {
  if (!statSync(path).isDirectory()) {
    return (JSON.parse(readFileSync(path, 'utf8')) as { collections: BenchCollection[] }).collections
  }
  const files = readdirSync(path).filter((file) => file.endsWith('.json'))
  return files.sort().map((file) => readConversation(file, join(path, file)))
}

/** One note per session; the questions of categories 1 to 4 that have evidence. */
function readConversation(name: string, path: string): BenchCollection {
  const data = JSON.parse(readFileSync(path, 'utf8')) as Conversation
  const sessions = Object.keys(data).filter((key) => /^session_\d+$/.test(key) && Array.isArray(data[key]))
  const documents = sessions.map((key) => ({
    id: key.slice('session_'.length),
    title: `${data.speaker_a} and ${data.speaker_b}, ${data[`${key}_date_time`]}`,
    body: (data[key] as Turn[])
      .map(({ speaker, text, blip_caption }) => `${speaker}: ${text} ${blip_caption ?? ''}`.trim())
      .join('\n'),
  }))
  const questions = data.qa
    .filter(({ category }) => category >= 1 && category <= 4)
    .map(({ question, evidence }) => ({ text: question, relevant: sessionsOf(evidence ?? []) }))
    .filter(({ relevant }) => relevant.length > 0)
  return { name: name.replace(/\.json$/, ''), documents, questions }
}

/** Evidence names turns, such as `D3:12`; sometimes several in one string. */
function sessionsOf(evidence: string[]): string[] {
  return [...new Set(evidence.flatMap((text) => [...text.matchAll(/D(\d+):/g)].map(([, session = '']) => session)))]
}
