import { type CataloguePermission, findPermission, type PermissionName } from '../../platform/auth/permissions.ts'

/** Each once, by name. A name that this version does not know (a newer node wrote it) is left out. */
export function catalogueOrder(names: readonly PermissionName[]): CataloguePermission[] {
  return [...new Set(names)].sort().flatMap((name) => findPermission(name) ?? [])
}
