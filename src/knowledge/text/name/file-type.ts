const KNOWN = new Set(
  (
    'md markdown txt pdf png jpg jpeg gif svg webp csv json html xml js css py zip mp3 mp4 ' +
    'doc docx xls xlsx ppt pptx'
  ).split(' '),
)
const LONGEST = 8
const DOT = 46
const SLASH = 47
const BACKSLASH = 92

/** Where the extension of a known file type begins (at its dot), or `end` when `text` up to there has none. */
export function fileTypeStart(text: string, end: number = text.length): number {
  const dot = text.lastIndexOf('.', end - 1)
  if (dot < 1 || end - dot - 1 > LONGEST || dot === end - 1) return end
  if (!KNOWN.has(text.slice(dot + 1, end).toLowerCase())) return end
  // ".md" and "..md" are names, not extensions of nothing.
  let before = dot - 1
  while (before >= 0 && text.charCodeAt(before) === DOT) before--
  const code = before < 0 ? SLASH : text.charCodeAt(before)
  return code === SLASH || code === BACKSLASH ? end : dot
}
