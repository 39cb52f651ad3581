import {
  type ConditionalPrice,
  findProvider,
  type MatchLogic,
  type ModelInfo,
  type ModelPrice,
} from '@pydantic/genai-prices'

/**
 * The prices of a model valid at `at`, by the names of `@pydantic/genai-prices`; undefined where the
 * data do not know it. The same answer as the package's own `calcPrice`, which tries every pattern
 * in turn and would make the start of a large catalogue several times slower.
 */
export function pricesAt(providerId: string, model: string, at: Date): ModelPrice | undefined {
  const id = model.trim().toLowerCase()
  const info = find(providerId, id) ?? find(providerId, withDashedDates(id))
  if (!info) return undefined
  return Array.isArray(info.prices) ? validAt(info.prices, at) : info.prices
}

interface Index {
  /** Names that are compared as a whole -> position of their model. */
  exact: ReadonlyMap<string, number>
  /** The other patterns, in order of position. */
  patterns: readonly { position: number; matches: (id: string) => boolean }[]
  models: readonly ModelInfo[]
  /** Providers whose models this one sells as well. */
  fallbacks: readonly string[]
}

// Derived from constant data, for each provider when it is first asked for.
const indexes = new Map<string, Index | undefined>()

function find(providerId: string, id: string): ModelInfo | undefined {
  if (!indexes.has(providerId)) indexes.set(providerId, toIndex(providerId))
  const index = indexes.get(providerId)
  if (!index) return undefined
  const exact = index.exact.get(id) ?? Infinity
  const earlier = index.patterns.find(({ position, matches }) => position >= exact || matches(id))
  // The first model in the data wins, however its pattern is written.
  const found = index.models[Math.min(exact, earlier?.position ?? Infinity)]
  if (found) return found
  for (const fallback of index.fallbacks) {
    const info = find(fallback, id)
    if (info) return info
  }
  return undefined
}

function toIndex(providerId: string): Index | undefined {
  const provider = findProvider({ providerId })
  if (!provider) return undefined
  const exact = new Map<string, number>()
  const patterns: { position: number; matches: (id: string) => boolean }[] = []
  for (const [position, { match }] of provider.models.entries()) {
    for (const logic of 'or' in match ? match.or : [match]) {
      if ('equals' in logic) {
        const name = logic.equals.toLowerCase()
        if (!exact.has(name)) exact.set(name, position)
      } else {
        patterns.push({ position, matches: toTest(logic) })
      }
    }
  }
  return {
    exact,
    patterns,
    models: provider.models,
    fallbacks: provider.fallback_model_providers ?? [],
  }
}

function toTest(logic: MatchLogic): (id: string) => boolean {
  if ('equals' in logic) return (id) => id === logic.equals.toLowerCase()
  if ('starts_with' in logic) return (id) => id.startsWith(logic.starts_with.toLowerCase())
  if ('ends_with' in logic) return (id) => id.endsWith(logic.ends_with.toLowerCase())
  if ('contains' in logic) return (id) => id.includes(logic.contains.toLowerCase())
  if ('regex' in logic) {
    const pattern = new RegExp(logic.regex)
    return (id) => pattern.test(id)
  }
  const isAll = 'and' in logic
  const tests = (isAll ? logic.and : logic.or).map(toTest)
  return (id) => (isAll ? tests.every((test) => test(id)) : tests.some((test) => test(id)))
}

// The data write dates with dashes, some providers without.
const withDashedDates = (id: string) =>
  id.replaceAll(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3')

// The last row that holds counts; the first is what was charged before any of the others did.
function validAt(rows: readonly ConditionalPrice[], at: Date): ModelPrice | undefined {
  return (rows.findLast(({ constraint }) => !constraint || holds(constraint, at)) ?? rows[0])
    ?.prices
}

function holds(constraint: NonNullable<ConditionalPrice['constraint']>, at: Date): boolean {
  if (constraint.type === 'start_date') return at >= new Date(constraint.start_date)
  // Both ends are times with an offset; on one day of UTC they may stand in either order.
  const now = at.getTime() % dayMs
  const start = timeOfDay(constraint.start_time)
  const end = timeOfDay(constraint.end_time)
  return end < start ? now >= start || now < end : now >= start && now < end
}

const dayMs = 86_400_000
const timeOfDay = (time: string) => (Date.parse(`1970-01-02T${time}`) + dayMs) % dayMs
