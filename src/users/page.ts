export const DEFAULT_PAGE_SIZE = 10

/** Which part of a list, from page 0. */
export interface Page {
  size: number
  number: number
}

export interface Sort<Field extends string> {
  field: Field
  descending: boolean
}

/** How many there are, before and after filtering. */
export interface ListCounts {
  total: number
  filtered: number
}

export function pageOf(query: { 'page[size]'?: number; 'page[number]'?: number }): Page {
  return { size: query['page[size]'] ?? DEFAULT_PAGE_SIZE, number: query['page[number]'] ?? 0 }
}

/** `-name` is by name, descending. */
export function sortOf<Field extends string>(text: Field | `-${Field}`): Sort<Field> {
  const descending = text.startsWith('-')
  return { field: (descending ? text.slice(1) : text) as Field, descending }
}
