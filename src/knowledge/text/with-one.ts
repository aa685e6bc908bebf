/**
 * The list with one item more; an empty one is replaced. To be used where most lists have one item: an empty list that is pushed to
 * gets room for seventeen.
 */
export function withOne<T>(list: T[], item: T): T[] {
  if (list.length === 0) return [item]
  list.push(item)
  return list
}
