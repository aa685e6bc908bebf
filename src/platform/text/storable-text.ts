/**
 * What strangers wrote, as any database can hold it: at most so many units of UTF-16, no NUL (which PostgreSQL refuses), no half of a
 * surrogate pair.
 */
export function storableText(text: string, longest: number): string {
  const short = text.length > longest ? text.slice(0, longest) : text
  return (short.includes('\0') ? short.replaceAll('\0', '') : short).toWellFormed()
}
