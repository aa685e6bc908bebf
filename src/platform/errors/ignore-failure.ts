/** The one method of a logger that this needs: errors stand below logging and import nothing of ours. */
interface Warns {
  warn(details: object, message: string): void
}

/** A side effect, where there is one, that may fail without harm. Naming the reason keeps it from being an empty catch. */
export function ignoreFailure(promise: Promise<unknown> | undefined, why: string, log?: Warns): void {
  promise?.catch((error: unknown) => log?.warn({ err: error }, `ignored: ${why}`))
}
