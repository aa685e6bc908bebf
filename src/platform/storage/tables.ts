/**
 * The typed schema, as Kysely sees it. Each part declares its own tables beside its store:
 *
 *   declare module '../platform/storage/tables.ts' { interface Tables { notes: NotesTable } }
 *
 * so that the platform knows no feature and a feature's columns stand next to the queries that use them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface Tables {}

/** Booleans are stored as 0 and 1 on both engines. */
export type Flag = 0 | 1

/** A column that the database fills in. */
export type { Generated } from 'kysely'
