/** What the rest of the server may use of the callbacks feature. */
export type { ShownNamespace } from './namespace/namespace.ts'
export { NamespacePolicies } from './namespace/namespace-policies.ts'
export { NamespaceService } from './namespace/namespace-service.ts'
export { readNamespaceChange, readNewNamespace } from './namespace/namespace-wish.ts'
export { policyValueOf } from './namespace/policy-json.ts'
export { namespaceToJson } from './namespace/schema-namespaces.ts'
export { registerCallbacks } from './register.ts'
export { createRuntime } from './run/runtime.ts'
