export function ensureTestPackages(): Promise<string | null>
