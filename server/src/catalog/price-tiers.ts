import type { PriceTier, Pricing, Rates, ServiceTier } from './model'

/** The maximum of tiers in a price: the set of those that apply is held in bits. */
export const maxTiers = 30

/** The properties of a request that decide which tiers of a price apply. */
export interface TierConditions {
  /** The prompt of one request to the provider, cached tokens included. */
  promptTokens: number
  serviceTier: ServiceTier | undefined
  /** The minute of the UTC day in which the request began. */
  minute: number
  /** The images of the answer; absent for answers without any. */
  image?: MadeImages | undefined
}

/** The properties of images that decide on their price. */
export interface MadeImages {
  /** Undefined where it is not known; as a bound, for any. */
  quality: string | undefined
  /** The pixels of each of them. */
  pixels: number
}

/** The rates of one request, and the tiers they came from; no name where none applied. */
export interface AppliedPrice {
  rates: Rates
  tier: string | undefined
}

export const minuteOf = (timeMs: number): number => Math.floor((timeMs % 86_400_000) / 60_000)

/** Selects the price of a request under `conditions`. The same object for the same tiers. */
export function selectPrice(pricing: Pricing, conditions: TierConditions): AppliedPrice {
  const { tiers } = pricing
  return tiers === undefined || tiers.length === 0
    ? usualPrice(pricing)
    : priceOfSet(pricing, tiers, setOf(tiers, conditions))
}

/** Returns the applying tiers as bits, by their positions. */
function setOf(tiers: readonly PriceTier[], conditions: TierConditions): number {
  let set = 0
  for (const [index, tier] of tiers.entries()) if (holds(tier, conditions)) set |= 1 << index
  return set
}

function holds(tier: PriceTier, conditions: TierConditions): boolean {
  const { above, serviceTier, hours } = tier
  return (
    (above === undefined || conditions.promptTokens > above) &&
    (serviceTier === undefined || conditions.serviceTier === serviceTier) &&
    (hours === undefined || isWithin(hours, conditions.minute)) &&
    (!isOfImages(tier) || matchesImage(tier, conditions.image))
  )
}

const isOfImages = ({ quality, abovePixels }: PriceTier) =>
  quality !== undefined || abovePixels !== undefined

const matchesImage = (
  { quality, abovePixels }: PriceTier,
  image: MadeImages | undefined,
): boolean =>
  image !== undefined &&
  (quality === undefined || image.quality === quality) &&
  (abovePixels === undefined || image.pixels > abovePixels)

/** Passes midnight where `until` precedes `from`; the same minute twice is a whole day. */
const isWithin = ({ from, until }: { from: number; until: number }, minute: number) =>
  from < until ? minute >= from && minute < until : minute >= from || minute < until

interface CompiledTiers {
  usual: AppliedPrice | undefined
  bySet: Map<number, AppliedPrice>
  dearestBySets: Map<string, Rates>
}

/** A model's pricing is one object for as long as it stays the same. */
const compiled = new WeakMap<Pricing, CompiledTiers>()

function getCompiled(pricing: Pricing): CompiledTiers {
  let entry = compiled.get(pricing)
  if (!entry) {
    entry = { usual: undefined, bySet: new Map(), dearestBySets: new Map() }
    compiled.set(pricing, entry)
  }
  return entry
}

function usualPrice(pricing: Pricing): AppliedPrice {
  const entry = getCompiled(pricing)
  entry.usual ??= { rates: pricing, tier: undefined }
  return entry.usual
}

function priceOfSet(pricing: Pricing, tiers: readonly PriceTier[], set: number): AppliedPrice {
  const { bySet } = getCompiled(pricing)
  const knownTiers = bySet.get(set)
  if (knownTiers) return knownTiers
  const heldTiers = tiers.filter((_tier, index) => (set & (1 << index)) !== 0)
  const { tiers: _tiers, ...usual } = pricing
  const rates = heldTiers.reduce<Rates>((sum, tier) => ({ ...sum, ...tier.rates }), usual)
  const price = {
    rates,
    tier: heldTiers.length > 0 ? heldTiers.map(formatTier).join(', ') : undefined,
  }
  bySet.set(set, price)
  return price
}

/** Formats a tier as logs show it: `above 272000 tokens`, `flex`, `16:30-00:30 UTC`, `hd`, `above 1048576 pixels`. */
export function formatTier(tier: PriceTier): string {
  const { above, serviceTier, hours, quality, abovePixels } = tier
  const terms = [
    ...(serviceTier === undefined ? [] : [serviceTier]),
    ...(above === undefined ? [] : [`above ${above} tokens`]),
    ...(hours === undefined
      ? []
      : [`${formatTimeOfDay(hours.from)}-${formatTimeOfDay(hours.until)} UTC`]),
    ...(quality === undefined ? [] : [quality]),
    ...(abovePixels === undefined ? [] : [`above ${abovePixels} pixels`]),
  ]
  return terms.join(' ')
}

/** Formats a minute of the day as `HH:MM`. */
export const formatTimeOfDay = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/**
 * Returns each rate at the highest that a request can reach: with a prompt of up to `promptTokens`, served in the
 * requested service tier or in the ordinary one, with images of up to so many pixels, of the quality in `image` or, without
 * one, of any. The same object for the same tiers.
 */
export function getHighestRates(pricing: Pricing, conditions: TierConditions): Rates {
  const { tiers } = pricing
  if (tiers === undefined || tiers.length === 0) return pricing
  const sets = new Set<number>()
  for (const image of reachableImages(tiers, conditions.image)) {
    for (const serviceTier of new Set([undefined, conditions.serviceTier])) {
      const lowest = { ...conditions, image, serviceTier, promptTokens: 0 }
      sets.add(setOf(tiers, lowest))
      for (const { above } of tiers) {
        if (above === undefined || above >= conditions.promptTokens) continue
        sets.add(setOf(tiers, { ...lowest, promptTokens: above + 1 }))
      }
    }
  }
  const { dearestBySets } = getCompiled(pricing)
  const key = [...sets].join()
  const knownRates = dearestBySets.get(key)
  if (knownRates) return knownRates
  const rates = [...sets].map((set) => completeRates(priceOfSet(pricing, tiers, set).rates))
  const dearest = rates.reduce(dearerOf)
  dearestBySets.set(key, dearest)
  return dearest
}

const noImages: readonly undefined[] = [undefined]

/** The images that a request can get, one of each set of tiers. */
function reachableImages(
  tiers: readonly PriceTier[],
  image: MadeImages | undefined,
): readonly (MadeImages | undefined)[] {
  if (!image) return noImages
  const qualityNames = tiers.flatMap(({ quality }) => quality ?? [])
  const qualities =
    image.quality === undefined ? [undefined, ...new Set(qualityNames)] : [image.quality]
  const sizes = tiers.flatMap(({ abovePixels }) =>
    abovePixels === undefined || abovePixels >= image.pixels ? [] : [abovePixels + 1],
  )
  return qualities.flatMap((quality) => [0, ...sizes].map((pixels) => ({ quality, pixels })))
}

/** Completes the rates so that every kind has one: the highest of a kind may be that of `input`. */
const completeRates = (rates: Rates): Required<Rates> => ({
  ...withoutTokens,
  ...rates,
  cachedInput: rates.cachedInput ?? rates.input,
  cachedAudioInput: rates.cachedAudioInput ?? rates.cachedInput ?? rates.input,
  cacheWrite: rates.cacheWrite ?? rates.input,
  cacheWriteLong: rates.cacheWriteLong ?? rates.cacheWrite ?? rates.input,
  reasoning: rates.reasoning ?? rates.output,
  audioInput: rates.audioInput ?? rates.input,
  audioOutput: rates.audioOutput ?? rates.output,
  imageInput: rates.imageInput ?? rates.input,
  imageOutput: rates.imageOutput ?? rates.output,
})

/** Units that cost nothing where they have no rate. */
const withoutTokens = {
  inputCharacters: 0n,
  outputCharacters: 0n,
  second: 0n,
  audioHour: 0n,
  image: 0n,
  request: 0n,
  search: 0n,
  madeImage: 0n,
  madeMegapixel: 0n,
}

function dearerOf(one: Required<Rates>, other: Required<Rates>): Required<Rates> {
  const dearer = { ...one }
  let name: keyof Rates
  for (name in dearer) if (other[name] > dearer[name]) dearer[name] = other[name]
  return dearer
}
