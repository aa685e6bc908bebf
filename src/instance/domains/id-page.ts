import { Type } from 'typebox'

/** Which part of a list, newest first, is wanted: below `maxId`, above `sinceId`, or right above `minId`. */
export interface PageBounds {
  limit: number
  maxId?: number
  sinceId?: number
  minId?: number
}

const LARGEST_PAGE = 500
const USUAL_PAGE = 100

const id = (description: string) => Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$', description }))

export const PageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: `${USUAL_PAGE} when absent, at most ${LARGEST_PAGE}.` }),
  ),
  max_id: id('Older than this.'),
  since_id: id('Newer than this, the newest of them.'),
  min_id: id('Newer than this, the next of them.'),
})

export interface PageTexts {
  limit?: number
  max_id?: string
  since_id?: string
  min_id?: string
}

export function pageBounds({ limit = USUAL_PAGE, max_id, since_id, min_id }: PageTexts): PageBounds {
  return {
    limit: Math.min(limit, LARGEST_PAGE),
    maxId: numberOf(max_id),
    sinceId: numberOf(since_id),
    minId: numberOf(min_id),
  }
}

/** `Link` to the pages after and before this one; undefined when there is nothing to link to. */
export function pageLinks(url: string, { limit }: PageBounds, page: readonly { id: number }[]): string | undefined {
  const [first, last] = [page[0], page.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const link = (parameter: string, at: number, rel: string) =>
    `<${url}?limit=${limit}&${parameter}=${at}>; rel="${rel}"`
  const links = page.length < limit ? [] : [link('max_id', last.id, 'next')]
  return [...links, link('min_id', first.id, 'prev')].join(', ')
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}
