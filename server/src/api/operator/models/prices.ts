import { sql, type Kysely, type Transaction } from 'kysely'
import type { NewPrice } from './schema'
import { requireModel } from './require-model'
import type { Catalog } from '../../../catalog/catalog'
import type { Pricing } from '../../../catalog/model'
import { toPricing, toPricingAnswer } from '../../../catalog/pricing-fields'
import { isServable } from '../../../catalog/is-priced'
import { readPricing, toStoredPricing } from '../../../catalog/stored-pricing'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'

/** The most prices shown to an operator; all are stored. */
const maxListed = 200
const maxPlanned = 100
/** Tolerates a client clock that is slightly late. */
const toleratedMs = 60_000

/** Stores a model's price from a moment on, without one from now on. */
export async function addPrice(
  db: Kysely<Schema> | Transaction<Schema>,
  modelId: string,
  { pricing, at }: { pricing: Pricing | null; at?: Date | undefined },
): Promise<void> {
  const column = pricing && toStoredPricing(pricing)
  await sql`
    insert into model_price (model_id, effective_at, pricing)
    values (${modelId}, ${at ? sql`${at}::timestamptz` : sql`now()`}, ${column}::jsonb)
    on conflict (model_id, effective_at) do update set pricing = excluded.pricing`.execute(db)
}

export const priceMissing = () =>
  invalidRequest(
    'pricing',
    'required',
    'pricing: set a price above zero for input and output, or is_free.',
  )

export type PriceStore = ReturnType<typeof createPriceStore>

/**
 * Prices of models, past, current and planned, for operators. A price that begins now is applied on this node
 * before the response. All reject with `model_not_found` for unknown ids.
 */
export function createPriceStore(db: Kysely<Schema>, catalog: Catalog) {
  async function list(id: string) {
    requireModel(catalog, id)
    const rows = await db
      .selectFrom('model_price')
      .select(['pricing', 'effective_at'])
      .where('model_id', '=', id)
      .orderBy('effective_at', 'desc')
      .limit(maxListed)
      .execute()
    return { prices: rows.map(toPrice) }
  }

  return {
    list,
    async set(id: string, { pricing: fields, effective_at: at }: NewPrice) {
      const { isFree, category } = requireModel(catalog, id)
      const pricing = toPricing(fields)
      if (!isServable({ isFree, pricing, category })) throw priceMissing()
      if (at && at.getTime() < Date.now() - toleratedMs) {
        const message = 'effective_at: must not be in the past, as that usage is already booked.'
        throw invalidRequest('effective_at', 'out_of_range', message)
      }
      if (at) await checkPlanned(db, id)
      await addPrice(db, id, { pricing, at })
      await catalog.refresh()
      return list(id)
    },
  }
}

interface PriceRow {
  pricing: unknown
  effective_at: Date
}

/** Pricing is null for the end of a price, and for a damaged one. */
function toPrice({ pricing: column, effective_at: at }: PriceRow) {
  const effective_at = toTimestamp(at)
  try {
    const pricing = readPricing(column)
    return { pricing: pricing && toPricingAnswer(pricing), effective_at }
  } catch {
    return { pricing: null, effective_at }
  }
}

async function checkPlanned(db: Kysely<Schema>, id: string): Promise<void> {
  const { rows } = await sql<{ planned: number }>`
    select count(*)::integer as planned from model_price
    where model_id = ${id} and effective_at > now()`.execute(db)
  if ((rows[0]?.planned ?? 0) < maxPlanned) return
  throw invalidRequest(
    null,
    'limit_reached',
    `A model can have at most ${maxPlanned} scheduled prices.`,
  )
}
