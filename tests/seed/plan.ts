/** A model of the seeded installation. Prices in USD per 1,000,000 tokens. */
export interface SeedModel {
  id: string
  provider: string
  price: { input: number; output: number }
  /** The part of the price that the provider bills, in percent. */
  costPercent: number
  /** Its part of the requests, among the others'. */
  weight: number
}

const providers = ['aurora', 'borealis', 'cirrus', 'dune', 'ember'] as const
const sizes = [
  { name: 'large', price: { input: 3, output: 15 }, weight: 2 },
  { name: 'medium', price: { input: 1.25, output: 10 }, weight: 3 },
  { name: 'small', price: { input: 0.25, output: 2 }, weight: 7 },
] as const

/** Fifteen models of five providers. */
export const seedModels: readonly SeedModel[] = providers.flatMap((provider, at) =>
  sizes.map(({ name, price, weight }) => ({
    id: `${provider}/${name}`,
    provider,
    price,
    costPercent: 60 + 5 * at,
    weight: weight * (providers.length - at),
  })),
)

/** A person of the seeded installation. */
export interface SeedPerson {
  name: string
  /** The position of the organization in `seedOrganizations`; undefined for a person without one. */
  organization: number | undefined
  department: string | undefined
  /** Whether the organization pays. */
  isFunded: boolean
  weight: number
}

export const seedOrganizations = ['Northwind Freight', 'Harbour Health', 'Juniper Games'] as const

const members: readonly (readonly [string, number | undefined, string | undefined])[] = [
  ['Ada Bell', 0, 'Research'],
  ['Bruno Costa', 0, 'Research'],
  ['Chen Li', 0, 'Support'],
  ['Dana Fox', 0, 'Support'],
  ['Emil Gray', 0, 'Sales'],
  ['Farah Haddad', 0, 'Sales'],
  ['Gita Iyer', 0, undefined],
  ['Hugo Jansen', 0, 'Research'],
  ['Ines Kaya', 1, 'Clinic'],
  ['Jonas Lund', 1, 'Clinic'],
  ['Kira Mori', 1, 'Laboratory'],
  ['Liam Novak', 1, 'Laboratory'],
  ['Mina Okafor', 1, undefined],
  ['Nils Park', 2, 'Studio'],
  ['Olga Quist', 2, 'Studio'],
  ['Pablo Ruiz', 2, 'Servers'],
  ['Quinn Sato', undefined, undefined],
  ['Rosa Timm', undefined, undefined],
  ['Sven Usher', undefined, undefined],
  ['Tara Vogel', undefined, undefined],
]

/** Twenty people: the first of each organization owns it, every fourth member pays from credits of their own. */
export const seedPeople: readonly SeedPerson[] = members.map(
  ([name, organization, department], at) => ({
    name,
    organization,
    department,
    isFunded: organization !== undefined && at % 4 !== 3,
    weight: 20 - (at % 7) * 2,
  }),
)

/** A request of the seeded installation. */
export interface SeedRequest {
  atMs: number
  person: SeedPerson
  model: SeedModel
  outcome: 'ok' | 'cancelled' | 'provider_error'
  input: number
  cachedInput: number
  output: number
  latencyMs: number
  streamed: boolean
}

/** Days that differ from the others. */
export interface Incidents {
  /** An hour in which the first three of every five requests to a provider fail. */
  outage: { provider: string; fromMs: number }
  /** Four hours with half as many requests again: as many as a person sends beside the others, to one model. */
  spike: { person: SeedPerson; model: SeedModel; fromMs: number }
}

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

const isWeekend = (ms: number) => new Date(ms).getUTCDay() % 6 === 0

/** Returns the start of the last working day that is at least so many days before another day. */
function workingDayBefore(dayStartMs: number, days: number): number {
  let startMs = dayStartMs - days * dayMs
  while (isWeekend(startMs)) startMs -= dayMs
  return startMs
}

/** Returns the incidents of an installation seeded at a time: on past working days, at hours with many requests. */
export function incidentsAt(nowMs: number): Incidents {
  const today = nowMs - (nowMs % dayMs)
  const [model] = seedModels
  const person = seedPeople[4]
  if (!model || !person) throw new Error('the plan has no people or models')
  return {
    outage: { provider: model.provider, fromMs: workingDayBefore(today, 7) + 14 * hourMs },
    spike: { person, model, fromMs: workingDayBefore(today, 3) + 10 * hourMs },
  }
}

/** Draws numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns a function that picks one of a list by its weight. */
function picker<One extends { weight: number }>(
  all: readonly One[],
  random: () => number,
): () => One {
  const total = all.reduce((sum, { weight }) => sum + weight, 0)
  return () => {
    let rest = random() * total
    for (const one of all) if ((rest -= one.weight) < 0) return one
    throw new Error('the list is empty')
  }
}

/** How much is done in an hour: most on working days between 8 and 18, a little more every day. */
function activityOf(hourStartMs: number, sinceMs: number): number {
  const hour = new Date(hourStartMs)
  const isDay = hour.getUTCHours() >= 8 && hour.getUTCHours() < 18
  return (
    (isDay ? 10 : 2) *
    (isWeekend(hourStartMs) ? 0.35 : 1) *
    (1 + (hourStartMs - sinceMs) / (60 * dayMs))
  )
}

interface Span {
  fromMs: number
  toMs: number
  requests: number
}

/** Generates the requests of a span of whole hours, in the order of their times; the same ones for the same span. */
export function* planRequests(span: Span, incidents: Incidents): Generator<SeedRequest> {
  const { fromMs, toMs, requests } = span
  const random = randomNumbers(fromMs / hourMs)
  const pick = { person: picker(seedPeople, random), model: picker(seedModels, random) }
  const { spike, outage } = incidents
  const hours: { startMs: number; activity: number }[] = []
  for (let startMs = fromMs; startMs < toMs; startMs += hourMs) {
    const isSpike = startMs >= spike.fromMs && startMs < spike.fromMs + 4 * hourMs
    hours.push({ startMs, activity: activityOf(startMs, fromMs) * (isSpike ? 1.5 : 1) })
  }
  const total = hours.reduce((sum, { activity }) => sum + activity, 0)
  let [done, activityDone, hit] = [0, 0, 0]
  for (const { startMs, activity } of hours) {
    activityDone += activity
    const count = Math.round((requests * activityDone) / total) - done
    const isSpike = startMs >= spike.fromMs && startMs < spike.fromMs + 4 * hourMs
    for (let at = 0; at < count; at++) {
      const isOfSpike = isSpike && random() < 1 / 3
      const model = isOfSpike ? spike.model : pick.model()
      const isHit = model.provider === outage.provider && startMs === outage.fromMs
      yield {
        ...amountsOf(random, isHit && hit++ % 5 < 3),
        atMs: startMs + Math.floor((at * hourMs) / count),
        person: isOfSpike ? spike.person : pick.person(),
        model,
      }
    }
    done += count
  }
}

function amountsOf(
  random: () => number,
  hasFailed: boolean,
): Omit<SeedRequest, 'atMs' | 'person' | 'model'> {
  const [chance, size] = [random(), random()]
  const outcome =
    hasFailed || chance < 0.008 ? 'provider_error' : chance > 0.99 ? 'cancelled' : 'ok'
  const isFailure = outcome === 'provider_error'
  const prompt = Math.round(200 + 6000 * size ** 3)
  return {
    outcome,
    input: isFailure ? 0 : prompt,
    cachedInput: isFailure || random() < 0.6 ? 0 : Math.round(prompt / 2),
    output: isFailure ? 0 : Math.round(20 + 900 * random() ** 2),
    latencyMs: Math.round(150 + 6000 * random() ** 3),
    streamed: random() < 0.7,
  }
}
