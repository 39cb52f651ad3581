import type { Kysely, Selectable } from 'kysely'
import { isVisibleTo, permitChange, roleOver } from '../../../auth/owned-rows'
import type { Principal } from '../../../auth/principal'
import { managers, type Role } from '../../../auth/roles'
import { requireRow } from '../../../platform/db/account-row'
import type { ConnectionRow, Schema } from '../../../platform/db/schema'

/** A connection that the caller may see, with its role where the connection is an organization's. */
export type VisibleConnection = Selectable<ConnectionRow> & { role: Role | null }

/** Whether the caller may change it, as far as its role goes. */
export const isManager = ({ role }: VisibleConnection) => role === null || managers.includes(role)

/** Returns the account or the organization that owns a connection. */
export const ownerOf = ({
  user_id: user,
  organization_id: organization,
}: Pick<VisibleConnection, 'user_id' | 'organization_id'>) => user ?? organization ?? ''

/** Selects the connections that an account may see. */
export const visibleConnections = (db: Kysely<Schema>, userId: string) =>
  db
    .selectFrom('connection')
    .selectAll('connection')
    .select(roleOver('connection', userId).as('role'))
    .where(isVisibleTo('connection', userId))

/** Rejects with `resource_not_found`. */
export async function findVisible(
  db: Kysely<Schema>,
  { userId }: Principal,
  id: string,
): Promise<VisibleConnection> {
  return requireRow('conn', id, () =>
    visibleConnections(db, userId).where('connection.id', '=', id).executeTakeFirst(),
  )
}

/** Rejects as `findVisible` does, and with `insufficient_permissions`. */
export async function findManaged(
  db: Kysely<Schema>,
  caller: Principal,
  id: string,
): Promise<VisibleConnection> {
  const row = await findVisible(db, caller, id)
  permitChange(caller, row.role)
  return row
}
