import type { Kysely, Transaction } from 'kysely'
import type { ChangedSettings } from './schema'
import type { Role } from '../../../auth/roles'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { usersWithSettings } from '../../../platform/db/stored-settings'
import { ApiError, invalidRequest } from '../../../errors'
import { toPublicSettings } from '../../../http/account-settings'
import { present } from '../../../http/fields'

interface SettingsPorts {
  db: Kysely<Schema>
  /** Called when an account was changed. */
  changed: (userId: string) => void
}

export type AccountSettingsStore = ReturnType<typeof createAccountSettingsStore>

/** Roles that may call the models of an organization, and so spend from its pool. Source: contract 2.4, 6.5. */
const spenders: readonly Role[] = ['owner', 'admin', 'developer', 'member']

/** Settings of an account. Source: contract 6.5. */
export function createAccountSettingsStore({ db, changed }: SettingsPorts) {
  const get = async (userId: string) => {
    const row = await usersWithSettings(db).where('users.id', '=', userId).executeTakeFirst()
    if (!row) throw new ApiError('resource_not_found')
    return toPublicSettings(row)
  }
  return {
    get,
    async change(userId: string, fields: ChangedSettings) {
      await db.transaction().execute((trx) => change(trx, userId, fields))
      changed(userId)
      return get(userId)
    },
  }
}

async function change(trx: Transaction<Schema>, userId: string, fields: ChangedSettings) {
  const stored = await trx
    .selectFrom('users')
    .select(['funding_organization_id', 'payment_method_id', 'auto_recharge_enabled'])
    .where('id', '=', userId)
    // Changes of an account's memberships lock this row, so that none ends meanwhile.
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!stored) throw new ApiError('resource_not_found')
  const funding = fundingOf(fields, stored.funding_organization_id)
  if (funding && funding !== stored.funding_organization_id) await checkSpends(trx, userId, funding)
  if (fields.primary_organization_id !== undefined) {
    await setPrimary(trx, userId, fields.primary_organization_id)
  }
  const { display_name, log_bodies, bare_model_names, auto_recharge: recharge } = fields
  if (recharge?.enabled && stored.payment_method_id === null) {
    throw invalidRequest(
      'auto_recharge.enabled',
      'not_allowed',
      'auto_recharge.enabled: requires a saved payment method.',
    )
  }
  await trx
    .updateTable('users')
    .set({
      updated_at: new Date(),
      ...present({
        display_name,
        log_bodies,
        bare_model_names,
        funding_organization_id: funding,
        auto_recharge_enabled: recharge?.enabled,
        auto_recharge_threshold: recharge?.threshold,
        auto_recharge_amount: recharge?.amount,
      }),
    })
    .where('id', '=', userId)
    .execute()
}

/** Returns the organization whose pool is to pay: null for the account itself, undefined for no change. */
function fundingOf(
  { funding_source: source, funding_organization_id: id }: ChangedSettings,
  stored: string | null,
): string | null | undefined {
  const isShared = source === undefined ? stored !== null : source === 'organization'
  if (!isShared) {
    if (!id) return source && null
    const message = 'funding_organization_id: only allowed for funding source "organization".'
    throw invalidRequest('funding_organization_id', 'conflict', message)
  }
  const organizationId = id === undefined ? stored : id
  if (organizationId) return organizationId
  const message = 'funding_organization_id: required for funding source "organization".'
  throw invalidRequest('funding_organization_id', 'required', message)
}

/** Reads the role of an active member in an active organization. */
const memberRole = async (trx: Transaction<Schema>, userId: string, id: string) => {
  if (!isId('org', id)) return undefined
  const row = await trx
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .select('membership.role')
    .where('membership.user_id', '=', userId)
    .where('membership.organization_id', '=', id)
    .where('membership.status', '=', 'active')
    .where('organization.status', '=', 'active')
    .executeTakeFirst()
  return row?.role
}

const notMember = (param: string) =>
  invalidRequest(
    param,
    'unknown_value',
    `${param}: you are not an active member of an organization with this id.`,
  )

async function checkSpends(trx: Transaction<Schema>, userId: string, id: string): Promise<void> {
  const role = await memberRole(trx, userId, id)
  if (role === undefined) throw notMember('funding_organization_id')
  if (spenders.includes(role)) return
  const message = `funding_organization_id: the role "${role}" cannot call models in this organization.`
  throw invalidRequest('funding_organization_id', 'not_allowed', message)
}

async function setPrimary(trx: Transaction<Schema>, userId: string, id: string | null) {
  if (id !== null && (await memberRole(trx, userId, id)) === undefined) {
    throw notMember('primary_organization_id')
  }
  // One at a time: a unique index never allows two, not even within the transaction.
  await trx
    .updateTable('membership')
    .set({ is_primary: false })
    .where('user_id', '=', userId)
    .where('is_primary', '=', true)
    .execute()
  if (id === null) return
  await trx
    .updateTable('membership')
    .set({ is_primary: true })
    .where('user_id', '=', userId)
    .where('organization_id', '=', id)
    .execute()
}
