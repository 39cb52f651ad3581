import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Schema } from '../platform/db/schema'

/** Returns the address that replaces that of an erased account. `.invalid` belongs to no one (RFC 2606). */
export const pseudonymOf = (userId: string) => `${userId}@erased.invalid`

const rowsPerStatement = 5000

/**
 * Removes an account's address from the audit logs of organizations, some rows at a time: as actor, as changed object
 * and as invited person. The actions stay, under an id that no longer identifies anyone.
 */
export async function pseudonymizeTrails(
  db: Kysely<Schema>,
  userId: string,
  email: string,
): Promise<void> {
  const pseudonym = pseudonymOf(userId)
  const name = sql`object_name = ${pseudonym}`
  const isNamed = sql`object_name <> ${pseudonym}`
  const answered = sql`
    select object_id from organization_trail
    where actor = ${userId} and action in ('invitation.accepted', 'invitation.declined')`
  await changeRows(db, {
    change: sql`actor_email = ${pseudonym}, client_address = null`,
    isRequested: sql`actor = ${userId} and actor_email is distinct from ${pseudonym}`,
  })
  for (const isRequested of [
    sql`${isNamed} and object_id = ${userId}`,
    sql`${isNamed} and object_name = lower(${email}) and action like 'invitation.%'`,
    // The invitations may have been sent to an address that the account had before.
    sql`${isNamed} and object_id in (${answered})`,
  ]) {
    await changeRows(db, { change: name, isRequested })
  }
}

interface Rows {
  change: RawBuilder<unknown>
  isRequested: RawBuilder<unknown>
}

async function changeRows(db: Kysely<Schema>, { change, isRequested }: Rows): Promise<void> {
  let changed = BigInt(rowsPerStatement)
  while (changed === BigInt(rowsPerStatement)) {
    const { numAffectedRows = 0n } = await sql`
      update organization_trail set ${change} where id in (
        select id from organization_trail where ${isRequested} limit ${rowsPerStatement}
      )`.execute(db)
    changed = numAffectedRows
  }
}
