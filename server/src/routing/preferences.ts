import { z } from 'zod'
import type { Candidate } from './candidate'
import type { ModelSort, Resolution } from './resolution'
import { toComparablePrice, type RankingUse } from '../catalog/comparable-price'
import { toProviderKey } from '../catalog/model-names'
import { invalidRequest } from '../errors'
import { maybe, text } from '../wire/fields'
import { check, isObject, type JsonObject, type ReadBody } from '../wire/json-body'

/** The most further models of a request. */
const maxFallbacks = 10

const slugs = maybe(z.array(text(100, 1)).max(100))
const maxUsd = 1e9
/** USD, as a number or in decimal digits. */
const price = maybe(
  z.union([z.number().min(0).max(maxUsd), z.string().regex(/^\d{1,9}(\.\d{1,9})?$/)]),
)

const Fields = z.looseObject({
  models: maybe(z.array(text(256, 1)).max(maxFallbacks)),
  route: maybe(z.enum(['fallback'])),
  provider: maybe(
    z.looseObject({
      order: slugs,
      only: slugs,
      ignore: slugs,
      allow_fallbacks: maybe(z.boolean()),
      sort: maybe(
        z.union([z.string().max(100), z.looseObject({ by: maybe(z.string().max(100)) })]),
      ),
      max_price: maybe(z.looseObject({ prompt: price, completion: price })),
    }),
  ),
})
type ProviderFields = NonNullable<z.output<typeof Fields>['provider']>

/** A request's wishes for its route, in OpenRouter's fields. */
export interface RoutingPreferences {
  /** Names of models that are tried after the request's own, in this order. */
  fallbacks: readonly string[]
  /** Sorts its models; undefined where they are tried as they are listed. */
  sort: ModelSort | undefined
  provider: ProviderFields | undefined
  /** `provider` as it came, for OpenRouter itself. */
  original: JsonObject | undefined
  /** Parts of it that have no effect. */
  ignoredFields: readonly string[]
}

/** A request without its preferences; undefined where it has none. */
interface RoutedRead {
  readBody: ReadBody
  preferences: RoutingPreferences | undefined
}

/** A `provider` that is no object is another field of that name. */
const hasPreferences = ({ models, route, provider }: JsonObject): boolean =>
  models !== undefined || route !== undefined || isObject(provider)

/**
 * Takes the fields out of a request by which OpenRouter's clients choose a route: no provider gets `models` and
 * `route`. Throws `invalid_request`. Source: contract 10.6.
 */
export function takePreferences(requestBody: ReadBody): RoutedRead {
  const { body } = requestBody
  if (!hasPreferences(body)) return { readBody: requestBody, preferences: undefined }
  const { models: _models, route: _route, provider: requestedProvider, ...rest } = body
  const original = isObject(requestedProvider) ? requestedProvider : undefined
  const foreignField =
    original || requestedProvider === undefined ? {} : { provider: requestedProvider }
  const { models, provider } = check(Fields, { ...body, provider: original })
  const [first, ...otherModels] = models ?? []
  const isNamed = body['model'] !== undefined && body['model'] !== null
  const listedModels = isNamed ? (models ?? []) : otherModels
  const ownModel = isNamed || first === undefined ? {} : { model: first }
  const routedBody: JsonObject = { ...rest, ...foreignField, ...ownModel }
  return {
    readBody: { ...requestBody, body: routedBody },
    preferences: {
      fallbacks: [...new Set(listedModels)].filter((name) => name !== routedBody['model']),
      sort: toModelSort(provider?.sort),
      provider: provider ?? undefined,
      original,
      ignoredFields: provider ? listIgnored(provider) : [],
    },
  }
}

/** Providers of one model are sorted by who pays for them; only a sort across models changes an order. */
function toModelSort(sort: ProviderFields['sort']): ModelSort | undefined {
  if (!isObject(sort) || sort['partition'] !== 'none') return undefined
  if (sort['by'] === 'price') return 'lowest_cost'
  return sort['by'] === 'latency' || sort['by'] === 'throughput' ? 'lowest_latency' : undefined
}

const knownFields = new Set(['order', 'only', 'ignore', 'allow_fallbacks', 'sort', 'max_price'])
const knownPrices = new Set(['prompt', 'completion'])
const knownSorts = new Set(['price', 'latency', 'throughput'])

/** Lists the requested parts of `provider` that have no effect. */
function listIgnored(provider: ProviderFields): string[] {
  const { sort, max_price: maxPrice } = provider
  const by = isObject(sort) ? sort['by'] : sort
  return [
    ...Object.keys(provider).filter(
      (name) => !knownFields.has(name) && isRequested(provider[name]),
    ),
    ...(by && !knownSorts.has(by) ? ['sort'] : []),
    ...Object.keys(maxPrice ?? {})
      .filter((name) => !knownPrices.has(name) && isRequested(maxPrice?.[name]))
      .map((name) => `max_price.${name}`),
  ].map((name) => `provider.${name}`)
}

const isRequested = (value: unknown) =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0)

/** OpenRouter decides itself, where the caller's own connection leads to it. */
export const decidesItself = ({ provider, billing }: Candidate): boolean =>
  provider.key === 'openrouter' && billing.mode === 'byok'

/**
 * Returns a resolution with the candidates that a request accepts. All that serve one model have one provider, so an
 * order of providers only decides which are accepted. Throws `invalid_request` where none is.
 */
export function applyPreferences(
  resolution: Resolution,
  preferences: RoutingPreferences | undefined,
  rankedRequest?: RankedRequest,
): Resolution {
  const provider = preferences?.provider
  if (!provider) return resolution
  let acceptedCandidates = resolution.candidates
  for (const { field, accepts } of filtersOf(provider, rankedRequest)) {
    const next = acceptedCandidates.filter((one) => decidesItself(one) || accepts(one))
    if (next.length === 0) throw unmet(field, acceptedCandidates)
    acceptedCandidates = next
  }
  const candidates = withoutFallbacks(acceptedCandidates, provider)
  const [first] = candidates
  return first ? { ...resolution, model: first.model, candidates } : resolution
}

/** A request whose use of a ranking is estimated where prices are compared. */
interface RankedRequest {
  ranking?: () => RankingUse | undefined
}

interface Filter {
  field: string
  accepts: (candidate: Candidate) => boolean
}

const isOneOf = (slugs: readonly string[]) => {
  const keys = new Set(slugs.map(toProviderKey))
  return (candidate: Candidate) => keys.has(candidate.provider.key)
}

function filtersOf(provider: ProviderFields, rankedRequest?: RankedRequest): Filter[] {
  const { order, only, ignore, allow_fallbacks: allowsFallbacks, max_price: maxPrice } = provider
  const filters: Filter[] = []
  if (only?.length) filters.push({ field: 'only', accepts: isOneOf(only) })
  if (ignore?.length) {
    const isIgnored = isOneOf(ignore)
    filters.push({ field: 'ignore', accepts: (candidate) => !isIgnored(candidate) })
  }
  if (order?.length && allowsFallbacks === false)
    filters.push({ field: 'order', accepts: isOneOf(order) })
  if (maxPrice) filters.push({ field: 'max_price', accepts: costsAtMost(maxPrice, rankedRequest) })
  return filters
}

/** A model without a price costs what its owner's provider takes. */
function costsAtMost(
  { prompt, completion }: NonNullable<ProviderFields['max_price']>,
  rankedRequest?: RankedRequest,
) {
  const [maxInput, maxOutput] = [toNanos(prompt), toNanos(completion)]
  return ({ model }: Candidate): boolean => {
    const { isFree, pricing } = model
    if (isFree || !pricing) return true
    const { input, output } = toComparablePrice(model, pricing, rankedRequest?.ranking?.())
    if (maxInput !== undefined && input > maxInput) return false
    return maxOutput === undefined || output <= maxOutput
  }
}

const toNanos = (usd: number | string | null | undefined): bigint | undefined =>
  usd === undefined || usd === null ? undefined : BigInt(Math.round(Number(usd) * 1e9))

/** Without fallbacks each model has its first candidate only, or those of the listed providers. */
function withoutFallbacks(
  candidates: readonly Candidate[],
  { order, allow_fallbacks: allowsFallbacks }: ProviderFields,
): readonly Candidate[] {
  if (allowsFallbacks !== false || order?.length) return candidates
  const firsts = new Map<string, Candidate>()
  for (const one of candidates) if (!firsts.has(one.model.id)) firsts.set(one.model.id, one)
  return [...firsts.values()]
}

function unmet(field: string, candidates: readonly Candidate[]) {
  const param = `provider.${field}`
  const servedNames = candidates.map(({ model, provider }) => `"${model.id}" by ${provider.key}`)
  const offeredNames = [...new Set(servedNames)].slice(0, 3).join(', ')
  return invalidRequest(
    param,
    'unsupported_by_model',
    `${param}: accepts none of the connections that serve this request: ${offeredNames}.`,
  )
}
