import type { Category, Pricing } from '../catalog/model'
import { invalidRequest, unpricedField } from '../errors'
import {
  cacheLifetimeField,
  hasUsualCache,
  withPricedCaches,
  withUsualCache,
} from '../wire/cache-lifetimes'
import type { JsonObject } from '../wire/json-body'

/**
 * Fields that make a request more expensive than its text and its output limit, and their treatment where the
 * caller pays the platform's price (M35). On a BYOK connection they all pass through: the caller pays the
 * provider. Fields that are not listed pass through too: `shared-credentials/` withholds unknown ones. `priced`:
 * part of the hold, in `volume.ts` and `worst-case.ts`. `refused`: changes the answer, and no price of the
 * platform covers it. `stripped`: tunes what is not in the answer, or means nothing here.
 */
export const costlyFields: Readonly<Record<string, 'priced' | 'refused' | 'stripped'>> = {
  // The number, length and kind of answers.
  n: 'priced',
  best_of: 'priced',
  prompt: 'priced',
  suffix: 'priced',
  max_tokens: 'priced',
  max_completion_tokens: 'priced',
  modalities: 'priced',
  prediction: 'priced',
  tools: 'priced',

  // Searches are charged by the piece, and their results are read as input. `web_search_options` is priced where
  // the model has a price per request: see `stripUnpriced`.
  web_search_options: 'refused',
  plugins: 'refused', // OpenRouter, which alone has them: see `pluginsRefused`
  search_parameters: 'refused', // xAI
  enable_search: 'refused', // DashScope
  search_settings: 'refused', // Groq
  // Another model or host than the one whose price is charged, or a more expensive region. `models`, `route` and an object
  // in `provider` do not come here: `routing/preferences.ts` takes them out.
  models: 'refused', // OpenRouter
  route: 'refused',
  preset: 'refused',
  provider: 'refused',
  providerOptions: 'refused', // Vercel
  inference_geo: 'refused', // Anthropic, x 1.1
  // Another model reads the prompt and the answer.
  moderation: 'refused', // OpenAI

  // A priority in the provider's queue; ordinary tiers are kept: see `stripUnpriced`.
  service_tier: 'stripped',
  speed: 'stripped', // Anthropic, up to x 6
  // Writing to a cache costs more than input, and has a price of its own by its lifetime.
  cache_control: 'priced',
  // Output limits of other servers, which would compete with the paid one.
  max_output_tokens: 'stripped',
  max_new_tokens: 'stripped',
  max_length: 'stripped',
  max_generated_tokens: 'stripped',
  n_predict: 'stripped',
  num_predict: 'stripped',
}

/** These cost the price, or less. More expensive tiers pass only where the price has them. */
const ordinaryTiers = new Set(['auto', 'default', 'flex', 'standard', 'standard_only', 'on_demand'])

// An empty object is a request: `web_search_options: {}` searches.
const isUsed = (value: unknown) =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0)

/** The endpoint and the prices of a request's charge. */
interface Charged {
  endpoint: Category
  pricing: Pricing
}

/**
 * Returns a request body without the fields that its price does not cover; the same object where it has none.
 * Throws `invalid_request` for a field that cannot just be left out.
 */
export function stripUnpriced(body: JsonObject, what: Charged): JsonObject {
  let copy: JsonObject | undefined
  for (const name in body) {
    if (!isStripped(name, body[name], what)) continue
    // Copied for the first such field: nearly no request has any.
    copy ??= { ...body }
    delete copy[name]
  }
  return withUsualCache(withPricedCaches(copy ?? body, what.pricing))
}

const pluginsRefused = () =>
  invalidRequest(
    'plugins',
    'unsupported_by_model',
    'plugins: run by OpenRouter only. They work on your own connection (BYOK) to OpenRouter.',
  )

function isStripped(name: string, value: unknown, { endpoint, pricing }: Charged): boolean {
  if (!isUsed(value)) return false
  if (name === 'service_tier') return !isPricedTier(value, pricing)
  // Chat has no candidates to choose from; some servers compute them all the same.
  if (name === 'best_of') return endpoint !== 'completion'
  // A rate of words, not a mode of the model.
  if (name === 'speed' && endpoint === 'speech') return false
  if (name === 'web_search_options' && pricing.request !== undefined) return false
  // How strictly a prompt for an image is filtered.
  if (name === 'moderation' && endpoint === 'image') return false
  if (name === 'plugins') throw pluginsRefused()
  if (costlyFields[name] === 'refused') throw unpricedField(name)
  return costlyFields[name] === 'stripped'
}

const noFields: readonly string[] = []

/** Returns the fields that `stripUnpriced` removed, from the bodies before and after it. */
export const strippedFrom = (
  requestedBody: JsonObject,
  chargedBody: JsonObject,
): readonly string[] =>
  requestedBody === chargedBody
    ? noFields
    : [
        ...Object.keys(requestedBody).filter(
          (name) => !(name in chargedBody) && isStrippable(name, requestedBody[name]),
        ),
        ...(hasUsualCache(chargedBody) && !hasUsualCache(requestedBody)
          ? [cacheLifetimeField]
          : []),
      ]

const isStrippable = (name: string, value: unknown) =>
  isUsed(value) && (costlyFields[name] === 'stripped' || name === 'best_of')

const isPricedTier = (value: unknown, { tiers = [] }: Pricing) =>
  typeof value === 'string' &&
  (ordinaryTiers.has(value) || tiers.some(({ serviceTier }) => serviceTier === value))
