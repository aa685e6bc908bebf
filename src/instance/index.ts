/** What the rest of the server may use of the instance feature. */
export { InstanceChanges } from './changes.ts'
export { LogInRecorder } from './numbers/log-in-recorder.ts'
export { instancePersonalData } from './personal-data.ts'
export { registerInstance } from './register.ts'
