import type { Kysely, Selectable } from 'kysely'
import { z } from 'zod'
import { capabilities, type Model } from './model'
import { readModelCosts } from './model-cost'
import { readPriceSteps } from './price-steps'
import type { ProviderConnection, SnapshotRows } from './snapshot'
import { readCollections } from './account-names'
import { readPricing } from './stored-pricing'
import type { ModelRow } from '../platform/db/model-schema'
import type { ConnectionRow, ProviderRow, Schema } from '../platform/db/schema'
import { connectionSecret, networkSecret, unseal, type SealingKeys } from '../platform/db/sealed'
import { toConnectionHeaders } from '../providers/connection-headers'
import { ConnectionNetwork, NetworkSecrets, toNetworkRoute } from '../providers/connection-network'
import { ConnectionOptions } from '../providers/connection-options'
import { dialects, RelayOptions, type Provider } from '../providers/provider'

const StoredCapabilities = z.record(z.enum(capabilities), z.boolean())
const Dialect = z.enum(dialects)

/** Converts a row of `model`. Throws when the row is damaged. */
export function toModel(row: Selectable<ModelRow>): Model {
  return {
    id: row.id,
    provider: row.provider,
    name: row.name,
    upstreamModel: row.upstream_model,
    category: row.category,
    contextLength: row.context_length,
    maxInputTokens: row.max_input_tokens,
    maxOutputTokens: row.max_output_tokens,
    capabilities: StoredCapabilities.parse(row.capabilities),
    pricing: readPricing(row.pricing),
    cost: null,
    isFree: row.is_free,
    enabled: row.enabled,
    createdAt: Math.floor(row.created_at.getTime() / 1000),
    deprecatedAt: row.deprecated_at && Math.floor(row.deprecated_at.getTime() / 1000),
    dimensions: row.dimensions,
    simulated: false,
  }
}

/**
 * Converts a row to its model, and reports damage. A model with a damaged price has none, and is not served: left out,
 * it would make room for the built-in one of that name, at its price.
 */
export function toModels(
  row: Selectable<ModelRow>,
  onDamaged: StoredOptions['onDamaged'],
): Model[] {
  try {
    return [toModel(row)]
  } catch (error) {
    onDamaged('model', error)
  }
  try {
    return [{ ...toModel({ ...row, pricing: null, is_free: false }), enabled: false }]
  } catch {
    return []
  }
}

/** Converts a row of `provider`. Throws when the row is damaged. */
export const toProvider = (row: Selectable<ProviderRow>): Provider => ({
  key: row.key,
  name: row.name,
  dialect: Dialect.parse(row.dialect),
  baseUrl: row.base_url,
  variables: {},
  authHeader: row.auth_header,
  keyless: row.keyless,
  keyVariables: [],
  embeddings: 'yes',
  abort: 'unknown',
  website: row.website,
  options: RelayOptions.parse(row.options),
})

type Owned = Pick<Selectable<ConnectionRow>, 'id' | 'scope' | 'user_id' | 'organization_id'>

/** Returns the owner for egress: only the operator's connections go unguarded; any other counts as owned. */
export const ownerOf = ({ id, scope, user_id: user, organization_id: organization }: Owned) =>
  scope === 'platform' ? null : (user ?? organization ?? id)

/** Converts a row of `connection`. Throws when it is damaged, or its secret cannot be decrypted. */
export const toConnection = (
  row: Selectable<ConnectionRow>,
  { sealingKeys }: Pick<StoredOptions, 'sealingKeys'>,
): ProviderConnection => {
  const options = ConnectionOptions.parse(row.options)
  return {
    id: row.id,
    provider: row.provider,
    name: row.name,
    baseUrl: row.endpoint_url,
    secret: row.secret && unseal(row.secret, sealingKeys, connectionSecret(row.id)),
    options,
    ...readNetwork(row, { options, sealingKeys }),
    priority: row.priority,
    owner: ownerOf(row),
    isDefault: row.is_default,
    isFailing: row.status === 'error',
    rpm: row.rpm,
    tpm: row.tpm,
    imagesPerMinute: row.images_per_minute,
    audioSecondsPerMinute: row.audio_seconds_per_minute,
    gatewayId: row.gateway_id,
    onlyModels: null,
  }
}

type NetworkColumns = Pick<Selectable<ConnectionRow>, 'id' | 'network' | 'network_secret'>

/** Reads the way and the headers of a connection; its authorities may be among its options too. */
function readNetwork(
  { id, network, network_secret: sealed }: NetworkColumns,
  { options, sealingKeys }: { options: ConnectionOptions; sealingKeys: SealingKeys },
): Pick<ProviderConnection, 'network' | 'headers'> {
  const { certificate_authorities: authorities } = options
  const secrets = sealed
    ? NetworkSecrets.parse(JSON.parse(unseal(sealed, sealingKeys, networkSecret(id))))
    : {}
  const parsedNetwork = {
    ...(authorities !== undefined && { certificate_authorities: authorities }),
    ...ConnectionNetwork.parse(network),
  }
  return {
    network: toNetworkRoute({ network: parsedNetwork, secrets }),
    headers: toConnectionHeaders(secrets.headers),
  }
}

export interface StoredOptions {
  /** Opens the credentials. */
  sealingKeys: SealingKeys
  /** Reports a row that cannot be used and is left out. */
  onDamaged: (what: string, error: unknown) => void
}

/** Converts the rows that can be read. */
export const filterUsable = <Row, Value>(
  rows: readonly Row[],
  read: (row: Row) => Value,
  onDamaged: (error: unknown) => void,
): Value[] =>
  rows.flatMap((row) => {
    try {
      return [read(row)]
    } catch (error) {
      onDamaged(error)
      return []
    }
  })

/**
 * Reads the parts of the catalogue that operators added, as far as they are enabled. Rejects when the database does
 * not answer.
 */
export async function readStored(
  db: Kysely<Schema>,
  options: StoredOptions,
): Promise<SnapshotRows> {
  const { onDamaged } = options
  const [providers, models, connections, collections, prices, costs] = await Promise.all([
    db.selectFrom('provider').selectAll().where('enabled', '=', true).execute(),
    db.selectFrom('model').selectAll().execute(),
    db
      .selectFrom('connection')
      .selectAll()
      .where('scope', '=', 'platform')
      .where('status', '!=', 'inactive')
      .execute(),
    readCollections(db, null),
    readPriceSteps(db, (error) => onDamaged('price', error)),
    readModelCosts(db, (error) => onDamaged('cost', error)),
  ])
  return {
    collections,
    prices,
    costs,
    providers: filterUsable(providers, toProvider, (error) => onDamaged('provider', error)),
    models: models.flatMap((row) => toModels(row, onDamaged)),
    connections: filterUsable(
      connections,
      (row) => toConnection(row, options),
      (error) => onDamaged('connection', error),
    ),
  }
}
