import type { Kysely, Selectable } from 'kysely'
import { z } from 'zod'
import { capabilities, type Model, type Pricing } from './model'
import type { Connection, Parts } from './snapshot'
import type { ConnectionRow, ModelRow, ProviderRow, Schema } from '../db/schema'
import { unseal } from '../db/sealed'
import { ConnectionOptions } from '../providers/connection-options'
import { dialects, RelayOptions, type Provider } from '../providers/provider'

const Nanos = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform(BigInt)
const Bucket = Nanos.exactOptional()

const StoredPricing = z.object({
  input: Nanos,
  output: Nanos,
  cachedInput: Bucket,
  cacheWrite: Bucket,
  reasoning: Bucket,
  audioInput: Bucket,
  audioOutput: Bucket,
  image: Bucket,
  request: Bucket,
})

const StoredCapabilities = z.record(z.enum(capabilities), z.boolean())
const Dialect = z.enum(dialects)

/** A price as its column: nano-dollars as text, since JSON numbers are not exact. */
export const toStoredPricing = (pricing: Pricing) =>
  JSON.stringify(pricing, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )

/** A row of `model` as a model. Throws when the row is damaged. */
export function toModel(row: Selectable<ModelRow>): Model {
  return {
    id: row.id,
    provider: row.provider,
    name: row.name,
    upstreamModel: row.upstream_model,
    category: row.category,
    contextLength: row.context_length,
    maxOutputTokens: row.max_output_tokens,
    capabilities: StoredCapabilities.parse(row.capabilities),
    pricing: row.pricing === null ? null : StoredPricing.parse(row.pricing),
    isFree: row.is_free,
    enabled: row.enabled,
    createdAt: Math.floor(row.created_at.getTime() / 1000),
    deprecatedAt: row.deprecated_at && Math.floor(row.deprecated_at.getTime() / 1000),
    dimensions: row.dimensions,
    simulated: false,
  }
}

/**
 * The model of a row; what is damaged is said. A damaged price is none, and the model is not served:
 * left out, it would make room for the one of that name that comes with Tollgate, at its price.
 */
export function modelsOf(
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

/** A row of `provider` as a provider. Throws when the row is damaged. */
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
  pricesId: null,
  website: row.website,
  options: RelayOptions.parse(row.options),
})

/** Nobody but the operator goes unguarded: what is not the platform's counts as a stranger's. */
export const ownerOf = ({ id, scope }: Pick<Selectable<ConnectionRow>, 'id' | 'scope'>) =>
  scope === 'platform' ? null : id

interface StoredOptions {
  /** Opens the credentials. */
  encryptionKey: Buffer
  /** A row that cannot be used is left out, and said. */
  onDamaged: (what: string, error: unknown) => void
}

/** What operators added, as far as it is in use. Rejects when the database does not answer. */
export async function readStored(db: Kysely<Schema>, options: StoredOptions): Promise<Parts> {
  const [providers, models, connections] = await Promise.all([
    db.selectFrom('provider').selectAll().where('enabled', '=', true).execute(),
    db.selectFrom('model').selectAll().execute(),
    db
      .selectFrom('connection')
      .selectAll()
      .where('scope', '=', 'platform')
      .where('status', '!=', 'inactive')
      .execute(),
  ])
  const usable = <Row, Value>(rows: Row[], what: string, read: (row: Row) => Value): Value[] =>
    rows.flatMap((row) => {
      try {
        return [read(row)]
      } catch (error) {
        options.onDamaged(what, error)
        return []
      }
    })
  const toConnection = (row: Selectable<ConnectionRow>): Connection => ({
    id: row.id,
    provider: row.provider,
    name: row.name,
    baseUrl: row.endpoint_url,
    secret: row.secret && unseal(row.secret, options.encryptionKey, row.id),
    options: ConnectionOptions.parse(row.options),
    priority: row.priority,
    owner: ownerOf(row),
    isDefault: row.is_default,
    onlyModels: null,
  })
  return {
    providers: usable(providers, 'provider', toProvider),
    models: models.flatMap((row) => modelsOf(row, options.onDamaged)),
    connections: usable(connections, 'connection', toConnection),
  }
}
