/** What the rest of the server may use of the instance feature. */
export { InstanceChanges } from './changes.ts'
export type { InstanceDeps } from './deps.ts'
export type { DomainRules } from './domains/domain-rules.ts'
export { LogInRecorder } from './numbers/log-in-recorder.ts'
export { instancePersonalData } from './personal-data.ts'
export { type Instance, registerInstance } from './register.ts'
