import { folderNode } from './directory-node.ts'

/** Writes a tree as JSON from paths in the order of the index: a folder is opened at its first path, closed behind its last. */
export class TreeJson {
  #open: string[] = []
  #needsComma = false

  begin(): string {
    return '{"name":"Root","directory_path":"/","type":"directory","children":['
  }

  /** The folders that end and begin before the path, and then the file, unless it is null. */
  add(path: string, file: object | null): string {
    const segments = path.split('/')
    segments.pop()
    let shared = 0
    while (shared < segments.length && this.#open[shared] === segments[shared]) shared++
    let text = this.#close(this.#open.length - shared)
    for (let depth = shared; depth < segments.length; depth++) {
      const node = folderNode(segments.slice(0, depth + 1).join('/'))
      text += `${this.#comma()}${JSON.stringify(node).slice(0, -1)},"children":[`
      this.#needsComma = false
    }
    this.#open = segments
    if (file === null) return text
    text += this.#comma() + JSON.stringify(file)
    this.#needsComma = true
    return text
  }

  end(): string {
    return `${this.#close(this.#open.length)}]}`
  }

  #close(count: number): string {
    if (count > 0) this.#needsComma = true
    return ']}'.repeat(count)
  }

  #comma(): string {
    return this.#needsComma ? ',' : ''
  }
}
