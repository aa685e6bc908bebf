import { json } from 'node:stream/consumers'
import type { Worker } from 'node:worker_threads'

/** How many objects of this class the thread has, without those that nobody can reach. */
export async function countObjects(thread: Worker, className: string): Promise<number> {
  const { snapshot, nodes, strings } = (await json(await thread.getHeapSnapshot())) as {
    snapshot: { meta: { node_fields: string[]; node_types: [string[]] } }
    nodes: number[]
    strings: string[]
  }
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [typeAt, nameAt, isObject] = [fields.indexOf('type'), fields.indexOf('name'), types[0].indexOf('object')]
  let count = 0
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (nodes[at + typeAt] === isObject && strings[nodes[at + nameAt] as number] === className) count++
  }
  return count
}
