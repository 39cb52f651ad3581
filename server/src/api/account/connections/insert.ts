import type { Insertable, Transaction } from 'kysely'
import { toLimitColumns, type ConnectionLimitFields } from './limit-columns'
import { lockOwner, type Owner } from '../../../platform/db/account-row'
import type { ConnectionRow, Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'

/** Source: contract 3.3. */
const maxOfAccount = 100
const maxOfOrganization = 500

/** A new connection; its other columns as they are stored. */
export interface Insertion extends Pick<
  Insertable<ConnectionRow>,
  'id' | 'name' | 'provider' | 'gateway_type' | 'gateway_id' | 'endpoint_url'
> {
  owner: Owner
  /** Only for an organization's connection. */
  billing_mode?: ConnectionRow['billing_mode'] | undefined
  /** Without it, the first connection of its provider becomes the default. */
  is_default?: boolean | undefined
  priority?: number | undefined
  rate_limits?: ConnectionLimitFields | undefined
  sealed?:
    | Pick<Insertable<ConnectionRow>, 'secret' | 'secret_key_id' | 'api_key_prefix'>
    | undefined
  options?: string | undefined
  network?:
    | Partial<
        Pick<Insertable<ConnectionRow>, 'network' | 'network_secret' | 'network_secret_key_id'>
      >
    | undefined
}

/**
 * Inserts a customer's connection. Rejects with `limit_reached`, and with `resource_not_found` where its owner was
 * deleted.
 */
export async function insertConnection(trx: Transaction<Schema>, insertion: Insertion) {
  const { owner, billing_mode: mode, rate_limits: limits, ...stored } = insertion
  const { sealed, network, options, ...columns } = stored
  const isOrganization = owner.organization_id !== null
  // One insertion at a time, so that the count is exact and one connection is the default.
  await lockOwner(trx, owner)
  const others = await countOf(trx, insertion)
  checkCount(others.total, isOrganization)
  const isDefault = insertion.is_default ?? others.ofProvider === 0
  if (isDefault) await clearDefault(trx, { ...owner, provider: insertion.provider })
  return trx
    .insertInto('connection')
    .values({
      ...columns,
      ...owner,
      ...sealed,
      ...network,
      ...(options !== undefined && { options }),
      scope: isOrganization ? 'organization' : 'individual',
      billing_mode: isOrganization ? (mode ?? 'org_pays') : null,
      is_default: isDefault,
      priority: insertion.priority ?? 100,
      ...toLimitColumns(limits),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

async function countOf(trx: Transaction<Schema>, { owner, provider }: Insertion) {
  const id = owner.organization_id ?? owner.user_id
  const { total, of_provider: ofProvider } = await trx
    .selectFrom('connection')
    .where((is) => is.or([is('user_id', '=', id), is('organization_id', '=', id)]))
    .select(({ fn }) => [
      fn.countAll<bigint>().as('total'),
      fn.countAll<bigint>().filterWhere('provider', '=', provider).as('of_provider'),
    ])
    .executeTakeFirstOrThrow()
  return { total: Number(total), ofProvider: Number(ofProvider) }
}

function checkCount(total: number, isOrganization: boolean): void {
  const max = isOrganization ? maxOfOrganization : maxOfAccount
  if (total < max) return
  const ownerName = isOrganization ? 'An organization' : 'An account'
  throw invalidRequest(null, 'limit_reached', `${ownerName} has at most ${max} connections.`)
}

/** Unsets the default of an owner and a provider, as another connection is to become it. */
export const clearDefault = (
  trx: Transaction<Schema>,
  { user_id, organization_id, provider }: Owner & { provider: string },
) =>
  trx
    .updateTable('connection')
    .set({ is_default: false })
    .where('provider', '=', provider)
    .where('is_default', '=', true)
    .where((is) =>
      is.or([is('user_id', '=', user_id), is('organization_id', '=', organization_id)]),
    )
    .execute()
