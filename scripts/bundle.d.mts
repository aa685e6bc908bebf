export function ensureBundle(): Promise<string | null>
