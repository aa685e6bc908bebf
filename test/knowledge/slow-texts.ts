/** Texts on which a reader that goes back, or looks for every end from every beginning, never comes to an end. */
export const SLOW_TEXTS: Readonly<Record<string, string>> = {
  brackets: '[['.repeat(990_000),
  closing: ']]'.repeat(990_000),
  nested: '[['.repeat(20_000) + ']]'.repeat(20_000),
  quotes: '> '.repeat(500_000),
  lists: Array.from({ length: 1_000 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n'),
  ticks: Array.from({ length: 1_000 }, (_, length) => '`'.repeat(length)).join(' '),
  hashes: '#'.repeat(1_000_000),
  parens: `- a [[x]] ${'('.repeat(500_000)}`,
  comments: '<!--'.repeat(250_000),
  fences: '```\n'.repeat(200_000),
  blanks: `${' '.repeat(1_000_000)}x`,
  pipes: `[[${'|'.repeat(500_000)}]]`,
}

/** As long as the longest of them, and full of what notes are full of. */
export const HARMLESS_TEXT = '- [fact] plain words, and a [[Link]] to more of them\n\n'.repeat(36_000)
