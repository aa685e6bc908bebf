/** What ends a command before its time. The last one is what a terminal leaves behind, as when the connection to the machine is lost. */
export const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
