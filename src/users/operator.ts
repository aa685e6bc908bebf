import { operatorPrincipal, type Principal } from '../platform/auth/principal.ts'
import { AppError } from '../platform/errors/app-error.ts'
import type { Reader } from '../platform/storage/database.ts'
import { findOrganizationId } from './store-installation.ts'

/** Whoever works at the command line of the machine, acting on the organization of this database. */
export async function findOperator(reader: Reader): Promise<Principal> {
  const organizationId = await findOrganizationId(reader)
  if (organizationId !== undefined) return operatorPrincipal(organizationId)
  throw new AppError(
    'failed_precondition',
    'The database has no users yet: start the server once ("commonplace serve"), which creates the first administrator',
  )
}
