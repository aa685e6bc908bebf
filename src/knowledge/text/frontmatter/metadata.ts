export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** Frontmatter as values, in the order of the text. */
export type Metadata = Record<string, JsonValue>
