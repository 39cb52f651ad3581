import { sql, type Kysely } from 'kysely'
import type { Pricing, Rates } from './model'
import { readPricing } from './stored-pricing'
import type { Schema } from '../platform/db/schema'

/** The highest prices that owners of connections may charge, in nano-dollars a million tokens. */
export interface OwnerPriceLimits {
  input: bigint
  output: bigint
}

/** An operator's settings for prices that owners set. */
export interface Priceable {
  ownerPriceLimits: OwnerPriceLimits
}

/** The rates that each of the two limits covers. */
const sides = {
  input: [
    'input',
    'cachedInput',
    'cachedAudioInput',
    'cacheWrite',
    'cacheWriteLong',
    'audioInput',
    'imageInput',
  ],
  output: ['output', 'reasoning', 'audioOutput', 'imageOutput'],
} as const satisfies Record<keyof OwnerPriceLimits, readonly (keyof Rates)[]>

/** Returns the first rate of a price that exceeds the operator's limits. */
export function findRateAboveLimits(
  pricing: Pricing,
  limits: OwnerPriceLimits,
): { bucket: keyof Rates; limit: bigint } | undefined {
  for (const side of ['input', 'output'] as const) {
    const limit = limits[side]
    const bucket = sides[side].find((name) => (pricing[name] ?? 0n) > limit)
    if (bucket) return { bucket, limit }
  }
  return undefined
}

/** Whether the limits forbid owners to charge anything. */
export const isPricingOff = ({ input, output }: OwnerPriceLimits) => input === 0n || output === 0n

/**
 * Returns the part of an owner's price that is charged: all of it, or, where the operator's limits are lower by now,
 * the limits. The same object where nothing changes; null for no price.
 */
export function toOwnerPrice(pricing: Pricing | null, limits: OwnerPriceLimits): Pricing | null {
  if (pricing === null || isPricingOff(limits)) return null
  if (!findRateAboveLimits(pricing, limits)) return pricing
  const loweredPricing = { ...pricing }
  for (const side of ['input', 'output'] as const) {
    for (const bucket of sides[side]) {
      const price = loweredPricing[bucket]
      if (price !== undefined && price > limits[side]) loweredPricing[bucket] = limits[side]
    }
  }
  return loweredPricing
}

/** The owners' prices for some connections. */
export interface OwnerPrices {
  /** Returns the price; null for none, undefined for one that cannot be read. */
  of: (connectionId: string, name: string) => Pricing | null | undefined
}

/** Reads the prices in force. A damaged one is reported to `onDamaged`. */
export async function readOwnerPrices(
  db: Kysely<Schema>,
  connectionIds: readonly string[],
  onDamaged: (error: unknown) => void,
): Promise<OwnerPrices> {
  const { rows } = await sql<{ connection_id: string; name: string; pricing: unknown }>`
    select distinct on (connection_id, name) connection_id, name, pricing
    from connection_model_price where connection_id = any(${connectionIds}::text[])
    order by connection_id, name, sequence desc`.execute(db)
  const prices = new Map<string, Pricing | undefined>()
  for (const { connection_id: id, name, pricing: column } of rows) {
    try {
      const pricing = readPricing(column)
      if (pricing) prices.set(keyOf(id, name), pricing)
    } catch (error) {
      prices.set(keyOf(id, name), undefined)
      onDamaged(error)
    }
  }
  return {
    of: (id, name) => {
      const key = keyOf(id, name)
      return prices.has(key) ? prices.get(key) : null
    },
  }
}

const keyOf = (connectionId: string, name: string) => `${connectionId} ${name}`
