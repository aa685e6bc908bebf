export function withLock<T>(
  directory: string,
  log: (line: string) => void,
  work: (share: (pid: number) => void) => Promise<T>,
): Promise<T>
