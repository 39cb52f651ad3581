import type { Kysely, Selectable, Transaction } from 'kysely'
import { recordPrice } from './recorded'
import type { SetPrice } from './schema'
import { findManaged, findVisible, ownerOf } from './visible-connections'
import type { Principal } from '../../../auth/principal'
import type { Catalog } from '../../../catalog/catalog'
import type { Model, Pricing } from '../../../catalog/model'
import {
  findRateAboveLimits,
  toOwnerPrice,
  isPricingOff,
  readOwnerPrices,
  type Priceable,
} from '../../../catalog/owner-price'
import { isPrice } from '../../../catalog/is-priced'
import { rateFields, toPricing, toPricingAnswer } from '../../../catalog/pricing-fields'
import { toStoredPricing } from '../../../catalog/stored-pricing'
import type { ConnectionRow, Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'
import { pageList, type Page } from '../../../http/paging'
import { formatPlainUsd } from '../../../wire/usd'

/** The most models of one connection with a price or the end of one. */
const maxPricedModels = 1000
/** The most prices kept of a model, latest first. */
const maxStoredPrices = 50

export interface ConnectionModelPorts {
  db: Kysely<Schema>
  catalog: Catalog
  settings: { readonly current: Priceable }
  /** Called when an account or an organization was changed. */
  changed: (ownerId: string) => void
}

type Row = Selectable<ConnectionRow>

export type ConnectionModelStore = ReturnType<typeof createConnectionModelStore>

/**
 * Models of connections, and their prices. All reject with `resource_not_found` for connections that the caller
 * may not see, and with `insufficient_permissions` for those that it may see and not change.
 */
export const createConnectionModelStore = (ports: ConnectionModelPorts) => ({
  list: async (caller: Principal, id: string, page: Page) =>
    listModels(ports, await findVisible(ports.db, caller, id), page),
  async price(caller: Principal, id: string, fields: SetPrice) {
    const row = await findManaged(ports.db, caller, id)
    const model = await setPrice(ports, row, fields)
    ports.changed(ownerOf(row))
    return model
  },
})

/** Shows a model that only connections have, at its current price. */
function toDiscoveredModel(id: string, pricing: Pricing | null, { ownerPriceLimits }: Priceable) {
  const charged = toOwnerPrice(pricing, ownerPriceLimits)
  return {
    id,
    name: id.slice(id.indexOf('/') + 1),
    in_catalogue: false,
    pricing: charged && toPricingAnswer(charged),
    is_limited: charged !== pricing,
  }
}

const toListed = ({ id, name, isFree, pricing }: Model) => ({
  id,
  name,
  in_catalogue: true,
  pricing: isFree || !pricing ? null : toPricingAnswer(pricing),
  is_limited: false,
})

/**
 * Lists the models of a connection by id: the catalogue's models of its provider, those that a self-hosted gateway
 * last announced, and those that only the connection has.
 */
async function listModels(ports: ConnectionModelPorts, row: Row, page: Page) {
  const { db, catalog, settings } = ports
  const { snapshot } = catalog
  const [discovered, prices, serves] = await Promise.all([
    db.selectFrom('connection_model').select('name').where('connection_id', '=', row.id).execute(),
    // An unreadable price is left out together with its model, which is not served.
    readOwnerPrices(db, [row.id], () => undefined),
    servedBy(db, row),
  ])
  const listed = [...snapshot.models.values()]
    .filter((model) => model.enabled && model.provider === row.provider && serves(model))
    .map(toListed)
  const own = discovered.flatMap(({ name }) => {
    const id = `${row.provider}/${name}`
    const pricing = prices.of(row.id, name)
    if (pricing === undefined || snapshot.models.has(id)) return []
    return toDiscoveredModel(id, pricing, settings.current)
  })
  const all = [...listed, ...own].toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const { items, pagination } = pageList(page, all, (before) => all.filter(({ id }) => id > before))
  return { models: items, pagination }
}

/** Returns a filter of the catalogue's models that the connection serves, as far as is known. */
async function servedBy(db: Kysely<Schema>, row: Row): Promise<(model: Model) => boolean> {
  if (row.gateway_type === 2) return () => true
  const gateway = await db
    .selectFrom('gateway')
    .select('models')
    .where('id', '=', row.gateway_id)
    .executeTakeFirst()
  const names = new Set(
    gateway?.models.filter(({ provider }) => provider === row.provider).map(({ name }) => name),
  )
  return ({ upstreamModel }) => names.has(upstreamModel)
}

/**
 * Sets the owner's price for a model that only connections have, from the next request on. Rejects with
 * `invalid_request` for other models, and for prices above the operator's limits.
 */
async function setPrice(
  { db, catalog, settings }: ConnectionModelPorts,
  row: Row,
  { model: id, pricing: fields }: SetPrice,
) {
  const name = nameOf(catalog, row, id)
  const pricing = fields && toPricing(fields)
  if (pricing) checkPrice(pricing, settings.current)
  await db.transaction().execute(async (trx) => {
    // This update notifies all nodes, and orders concurrent prices.
    const touched = await trx
      .updateTable('connection')
      .set({ updated_at: new Date() })
      .where('id', '=', row.id)
      .executeTakeFirst()
    if (touched.numUpdatedRows === 0n) throw new ApiError('resource_not_found')
    await writePrice(trx, { row, id, name, pricing })
  })
  return toDiscoveredModel(id, pricing, settings.current)
}

/** Throws `invalid_request`. */
function nameOf({ snapshot }: Catalog, { provider }: Row, id: string): string {
  if (!id.startsWith(`${provider}/`)) throw unknownModel(id)
  if (snapshot.models.has(id)) {
    const message = `model: "${id}" is in the catalog; the operator sets its price.`
    throw invalidRequest('model', 'not_allowed', message)
  }
  return id.slice(provider.length + 1)
}

const unknownModel = (id: string) =>
  invalidRequest('model', 'unknown_value', `model: this connection does not serve "${id}".`)

/** Throws `invalid_request`. */
function checkPrice(pricing: Pricing, { ownerPriceLimits }: Priceable): void {
  if (isPricingOff(ownerPriceLimits)) {
    const message = 'pricing: the operator does not allow owners to set prices.'
    throw invalidRequest('pricing', 'not_allowed', message)
  }
  if (!isPrice(pricing, 'chat')) {
    const message = 'pricing: input and output must be above zero; send null for no price.'
    throw invalidRequest('pricing', 'out_of_range', message)
  }
  const above = findRateAboveLimits(pricing, ownerPriceLimits)
  if (!above) return
  const field = `pricing.${rateFields[above.bucket]}`
  const message = `${field}: must be at most ${formatPlainUsd(above.limit)}, the operator's maximum.`
  throw invalidRequest(field, 'out_of_range', message)
}

interface Priced {
  row: Row
  id: string
  name: string
  pricing: Pricing | null
}

async function writePrice(trx: Transaction<Schema>, { row, id, name, pricing }: Priced) {
  const stored = await trx
    .selectFrom('connection_model_price')
    .select('sequence')
    .where('connection_id', '=', row.id)
    .where('name', '=', name)
    .orderBy('sequence', 'desc')
    .limit(maxStoredPrices)
    .execute()
  if (stored.length === 0) await checkNew(trx, row, { id, name })
  const before = (await readOwnerPrices(trx, [row.id], () => undefined)).of(row.id, name)
  if (before !== undefined && toText(before) === toText(pricing)) return
  await trx
    .insertInto('connection_model_price')
    .values({ connection_id: row.id, name, pricing: pricing && toStoredPricing(pricing) })
    .execute()
  const oldest = stored[maxStoredPrices - 1]
  if (oldest) {
    await trx
      .deleteFrom('connection_model_price')
      .where('connection_id', '=', row.id)
      .where('name', '=', name)
      .where('sequence', '<=', oldest.sequence)
      .execute()
  }
  await recordPrice(trx, { row, model: id, before: before ?? null, after: pricing })
}

const toText = (pricing: Pricing | null) => JSON.stringify(pricing && toPricingAnswer(pricing))

/** Requires a model that was never priced to exist; one that is temporarily gone keeps its price. */
async function checkNew(
  trx: Transaction<Schema>,
  row: Row,
  { id, name }: Pick<Priced, 'id' | 'name'>,
) {
  const model = await trx
    .selectFrom('connection_model')
    .select('name')
    .where('connection_id', '=', row.id)
    .where('name', '=', name)
    .executeTakeFirst()
  if (!model) throw unknownModel(id)
  const { priced } = await trx
    .selectFrom('connection_model_price')
    .select(({ fn }) => fn.count<bigint>('name').distinct().as('priced'))
    .where('connection_id', '=', row.id)
    .executeTakeFirstOrThrow()
  if (priced < BigInt(maxPricedModels)) return
  const message = `A connection can have prices for at most ${maxPricedModels} models.`
  throw invalidRequest(null, 'limit_reached', message)
}
