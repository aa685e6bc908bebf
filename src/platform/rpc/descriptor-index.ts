import { type DescEnum, type DescExtension, type DescFile, type DescMessage, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'

/** Everything a client can ask about the files behind the served services, by name. Built once. */
export class DescriptorIndex {
  readonly #files = new Map<string, DescFile>()
  readonly #bySymbol = new Map<string, DescFile>()
  readonly #extensions = new Map<string, Map<number, DescFile>>()
  readonly #messages = new Set<string>()

  constructor(files: Iterable<DescFile>) {
    for (const file of files) this.#addFile(file)
  }

  file(name: string): DescFile | undefined {
    return this.#files.get(name)
  }

  fileOfSymbol(name: string): DescFile | undefined {
    return this.#bySymbol.get(name)
  }

  fileOfExtension(message: string, number: number): DescFile | undefined {
    return this.#extensions.get(message)?.get(number)
  }

  /** Undefined when there is no such message. */
  extensionNumbers(message: string): number[] | undefined {
    if (!this.#messages.has(message)) return undefined
    return [...(this.#extensions.get(message)?.keys() ?? [])].sort((a, b) => a - b)
  }

  #addFile(file: DescFile): void {
    if (this.#files.has(file.proto.name)) return
    this.#files.set(file.proto.name, file)
    for (const dependency of file.dependencies) this.#addFile(dependency)
    for (const message of file.messages) this.#addMessage(message)
    for (const enumeration of file.enums) this.#addEnum(enumeration)
    for (const extension of file.extensions) this.#addExtension(extension)
    for (const service of file.services) {
      this.#bySymbol.set(service.typeName, file)
      for (const method of service.methods) this.#bySymbol.set(`${service.typeName}.${method.name}`, file)
    }
  }

  #addMessage(message: DescMessage): void {
    this.#messages.add(message.typeName)
    this.#bySymbol.set(message.typeName, message.file)
    for (const member of [...message.fields, ...message.oneofs]) {
      this.#bySymbol.set(`${message.typeName}.${member.name}`, message.file)
    }
    for (const nested of message.nestedMessages) this.#addMessage(nested)
    for (const nested of message.nestedEnums) this.#addEnum(nested)
    for (const nested of message.nestedExtensions) this.#addExtension(nested)
  }

  #addEnum(enumeration: DescEnum): void {
    this.#bySymbol.set(enumeration.typeName, enumeration.file)
    // Values belong to the scope around their enum, as in C++.
    const scope = enumeration.typeName.slice(0, enumeration.typeName.lastIndexOf('.') + 1)
    for (const value of enumeration.values) this.#bySymbol.set(scope + value.name, enumeration.file)
  }

  #addExtension(extension: DescExtension): void {
    this.#bySymbol.set(extension.typeName, extension.file)
    const extended = extension.extendee.typeName
    const numbers = this.#extensions.get(extended) ?? new Map<number, DescFile>()
    this.#extensions.set(extended, numbers.set(extension.number, extension.file))
  }
}

/** The file first, then all it imports, directly or not, each once; without those in `sent`, to which it adds them. */
export function fileWithImports(file: DescFile, sent: Set<string>): Uint8Array[] {
  const found: DescFile[] = [file]
  sent.add(file.proto.name)
  for (const { dependencies } of found) {
    for (const dependency of dependencies) {
      if (sent.has(dependency.proto.name)) continue
      sent.add(dependency.proto.name)
      found.push(dependency)
    }
  }
  return found.map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto))
}
