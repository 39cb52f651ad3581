import { requestUsd } from '../../format/money'

/** The rates by which pictures, speech and transcripts are charged; null or absent where a model has none. */
interface MediaRates {
  input: number | null
  output: number | null
  input_characters: number | null
  request: number | null
  made_image?: number | null
  audio_hour?: number | null
}

interface MediaTier extends MediaRates {
  above: number | null
  service_tier: string | null
  from: string | null
  quality?: string | null
  above_pixels?: number | null
}

/** A price as far as estimates need it. */
export interface MediaPricing extends MediaRates {
  tiers: readonly MediaTier[]
}

const secondsOfHour = 3600
const million = 1_000_000

/** Tells what a request costs, where its price is not by the token: those are counted by the provider. */
const toText = (pricing: MediaPricing, cost: number | undefined) => {
  if (cost === undefined) return undefined
  const total = cost + (pricing.request ?? 0)
  const hasTokens = (pricing.input ?? 0) + (pricing.output ?? 0) > 0
  return `${hasTokens ? 'From' : 'About'} ${requestUsd(total)}`
}

interface Pictures {
  n: number
  size: string
  quality: string
}

function pixelsOf(size: string): number | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size) ?? []
  return width && height ? Number(width) * Number(height) : undefined
}

/** Whether a tier is for pictures such as these, as far as the request says. */
function mayApply(tier: MediaTier, { size, quality }: Pictures): boolean {
  if (tier.service_tier !== null || tier.above !== null || tier.from !== null) return false
  const pixels = pixelsOf(size)
  const isLarge = pixels === undefined || pixels > (tier.above_pixels ?? 0)
  return isLarge && (quality === '' || (tier.quality ?? quality) === quality)
}

/** Estimates pictures: of a size or quality that the model selects, the most. */
export function estimateImages(pricing: MediaPricing, pictures: Pictures): string | undefined {
  const { made_image: usual } = pricing
  const prices = pricing.tiers
    .filter((tier) => mayApply(tier, pictures))
    .flatMap(({ made_image: price }) => price ?? [])
  const isOpen = pictures.quality === '' || pixelsOf(pictures.size) === undefined
  const each = isOpen ? Math.max(0, usual ?? 0, ...prices) : (prices.at(-1) ?? usual)
  if (!each) return undefined
  const text = toText(pricing, each * pictures.n)
  return isOpen && prices.length > 0 ? text?.replace('About', 'Up to') : text
}

/** Estimates speech by the characters of its text. */
export const estimateSpeech = (pricing: MediaPricing, text: string): string | undefined =>
  pricing.input_characters === null
    ? undefined
    : toText(pricing, (Array.from(text).length * pricing.input_characters) / million)

/** Estimates a transcript by the length of the sound. */
export const estimateTranscription = (
  pricing: MediaPricing,
  seconds: number | undefined,
): string | undefined =>
  seconds === undefined || !pricing.audio_hour
    ? undefined
    : toText(pricing, (seconds * pricing.audio_hour) / secondsOfHour)
