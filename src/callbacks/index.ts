/** What the rest of the server may use of the callbacks feature. */
export type { CallbacksDeps } from './deps.ts'
export { createDefaultNamespace, ensureNamespaces } from './namespace/ensure-namespaces.ts'
export { NamespacePolicies } from './namespace/namespace-policies.ts'
export { NamespaceService, type ShownNamespace } from './namespace/namespace-service.ts'
export { readNamespaceChange, readNewNamespace } from './namespace/namespace-wish.ts'
export { namespaceToJson } from './namespace/schema-namespaces.ts'
export { registerCallbacks } from './register.ts'
export { createRuntime } from './run/runtime.ts'
