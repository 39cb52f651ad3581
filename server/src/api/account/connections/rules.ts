import type { Selectable, Updateable } from 'kysely'
import type { Catalog } from '../../../catalog/catalog'
import { refuseSecretHeaders } from './header-fields'
import { toLimitColumns, type ConnectionLimitFields } from './limit-columns'
import { toNetworkColumns } from './network-columns'
import { toTimeoutColumns, type TimeoutFields } from './timeout-fields'
import type { PlatformNetworkFields } from './network-fields'
import type { ConnectionRow } from '../../../platform/db/schema'
import { connectionSecret, seal, type SealingKeys } from '../../../platform/db/sealed'
import { invalidRequest } from '../../../errors'
import { present } from '../../../http/fields'
import type { ConnectionOptions } from '../../../providers/connection-options'
import { deriveAddress } from '../../../providers/own-address'
import type { Provider } from '../../../providers/provider'

/** Returns a part of a secret that tells keys apart but is too short to use. */
export const secretPrefix = (secret: string) =>
  secret.slice(0, Math.min(8, Math.floor(secret.length / 4)))

export const toSecretColumns = (secret: string, id: string, keys: SealingKeys) => ({
  secret: seal(secret, keys, connectionSecret(id)),
  secret_key_id: keys[0].id,
  api_key_prefix: secretPrefix(secret),
})

interface ConnectionFields {
  provider: string
  gateway_type?: 2 | 3 | undefined
  api_key?: string | undefined
  endpoint_url?: string | null | undefined
  options?: ConnectionOptions | undefined
  network?: PlatformNetworkFields | null | undefined
}

/** Returns the provider of a new connection. Throws `invalid_request` for missing or excess fields. */
export function checkProvider({ snapshot }: Catalog, fields: ConnectionFields): Provider {
  const provider = snapshot.providers.get(fields.provider)
  if (!provider) {
    throw invalidRequest(
      'provider',
      'unknown_value',
      `provider: "${fields.provider}" does not exist.`,
    )
  }
  if (fields.gateway_type === 3) return provider
  if (!fields.api_key && !provider.keyless) {
    throw invalidRequest('api_key', 'required', `api_key: ${provider.name} requires an API key.`)
  }
  const address = fields.endpoint_url ?? addressFor(provider, fields) ?? provider.baseUrl
  // An address with an unfilled placeholder, such as a resource's name, is not usable.
  if (!address || address.includes('{')) throw homeless(provider)
  refuseSecretHeaders(provider, fields.network?.headers)
  return provider
}

const homeless = ({ name }: Provider) =>
  invalidRequest(
    'endpoint_url',
    'required',
    `endpoint_url: ${name} does not accept a custom address.`,
  )

/** Throws `invalid_request` for a malformed credential. */
const addressFor = (provider: Provider, { api_key: secret, options = {} }: ConnectionFields) =>
  deriveAddress({ provider, connection: { baseUrl: null, secret: secret ?? null, options } })

interface Changed {
  name?: string | undefined
  api_key?: string | undefined
  endpoint_url?: string | null | undefined
  billing_mode?: 'org_pays' | 'member_pays' | undefined
  is_default?: boolean | undefined
  priority?: number | undefined
  options?: ConnectionOptions | undefined
  network?: PlatformNetworkFields | null | undefined
  rate_limits?: ConnectionLimitFields | undefined
  timeouts?: TimeoutFields | null | undefined
  status?: 'active' | 'inactive' | undefined
}

type Row = Selectable<ConnectionRow>

/** Whether a change points the connection to another address. */
export const changesAddress = (row: Row, { endpoint_url: address }: Changed) =>
  address !== undefined && address !== row.endpoint_url

/** Converts a change to columns. A secret belongs to the address that it was given for. */
export function toColumns(
  row: Row,
  changed: Changed,
  keys: SealingKeys,
): Updateable<ConnectionRow> {
  const { api_key: secret, rate_limits: limits, options, network, timeouts, ...fields } = changed
  refuseSecrets(row, changed)
  if (secret !== undefined && fields.endpoint_url === undefined) {
    throw invalidRequest('api_key', 'not_allowed', 'api_key: use update-key to change it.')
  }
  const isMoved = changesAddress(row, changed)
  const isDiscarded = isMoved && secret === undefined && row.secret !== null
  return {
    ...present(fields),
    ...(limits && toLimitColumns(limits)),
    ...(options && { options: JSON.stringify(options) }),
    ...toTimeoutColumns(timeouts),
    ...toNetworkColumns(row, { fields: network, isMoved }, keys),
    ...(isMoved && { model_count: 0 }),
    ...(secret !== undefined && toSecretColumns(secret, row.id, keys)),
    ...(isDiscarded && {
      secret: null,
      secret_key_id: null,
      api_key_prefix: null,
      status: 'inactive',
    }),
  }
}

/** Throws `invalid_request` for fields that only the gateway of a connection knows. */
export function refuseSecrets({ gateway_type: type }: Row, changed: Changed): void {
  if (type === 2) return
  for (const name of ['api_key', 'endpoint_url', 'network'] as const) {
    if (changed[name] === undefined) continue
    throw invalidRequest(
      name,
      'not_allowed',
      `${name}: not allowed here, the gateway configures it.`,
    )
  }
}

/**
 * Requires an address after the change, a secret where the provider needs one, and headers that do not take the place
 * of the secret.
 */
export function checkChange(
  { snapshot }: Catalog,
  row: Row,
  { columns, changed }: { columns: Updateable<ConnectionRow>; changed: Changed },
): void {
  if (row.gateway_type === 3) return checkGateway(row, columns)
  const provider = snapshot.providers.get(row.provider)
  refuseSecretHeaders(provider, changed.network?.headers)
  if (columns.endpoint_url === null && provider?.baseUrl === null) {
    throw homeless(provider)
  }
  if (columns.status === 'active' && !(columns.secret ?? row.secret) && !provider?.keyless) {
    throw invalidRequest('status', 'wrong_state', 'status: set an API key with update-key first.')
  }
}

function checkGateway({ gateway_id: gatewayId }: Row, { status }: Updateable<ConnectionRow>): void {
  if (status !== 'active' || gatewayId !== null) return
  throw invalidRequest(
    'status',
    'wrong_state',
    'status: the gateway of this connection was deleted.',
  )
}
