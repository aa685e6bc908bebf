/** How often the event loop came round while the work went on. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let next = setImmediate(function again() {
    turns++
    next = setImmediate(again)
  })
  await work.finally(() => clearImmediate(next))
  return turns
}
