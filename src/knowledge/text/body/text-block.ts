/** A part of a text that observations, relations and headings are read from. */
export interface TextBlock {
  /** `item` is the first paragraph of a list item. */
  kind: 'heading' | 'item' | 'paragraph'
  text: string
  /** Of a heading; else 0. */
  level: number
  /** Somewhere inside a block quote. */
  isQuoted: boolean
  /** Inside no list and no quote. */
  isTop: boolean
}
