import { isUuid } from '../../platform/ids/uuid.ts'

/** Where an operation on the content of a project is reached: `url` is documented, the alias answers alike. */
export interface ProjectUrls {
  url: string
  aliases: readonly string[]
}

/** `projectUrls('/knowledge/graph')` for an operation whose `params` have `project_id`; `also` where else it is looked for. */
export function projectUrls(path: string, ...also: string[]): ProjectUrls {
  const [url = '', ...aliases] = [path, ...also].flatMap((one) => [
    `/v2/:project_id${one}`,
    `/v2/projects/:project_id${one}`,
  ])
  return { url, aliases }
}

const BARE = /^[0-9a-f]{32}$/

/** An id of a path in canonical form; upper case and missing hyphens are forgiven. Null when it is no UUID. */
export function knowledgeId(text: string): string | null {
  if (isUuid(text)) return text
  const lower = text.toLowerCase()
  if (isUuid(lower)) return lower
  return BARE.test(lower) ? hyphenated(lower) : null
}

function hyphenated(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
