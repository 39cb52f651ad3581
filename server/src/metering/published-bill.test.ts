import { expect, test } from 'bun:test'
import { costAt, selectUsagePrice } from './applied-price'
import {
  publishedRates,
  readPublishedPrices,
  type PublishedPrice,
} from '../../testing/metering/published-prices'
import { fullPrice, limitsAt, limitUsage, computeWorstCase, type TokenBounds } from './worst-case'
import { loadBuiltInModels } from '../catalog/built-in'
import { providers } from '../providers/registry'
import {
  usageReadersOf,
  type SampleUsage,
  type UsageReader,
} from '../../testing/providers/usage-blocks'

const rows = await readPublishedPrices()
const rowsOf = Map.groupBy(rows, ({ model }) => model)

/** A Tuesday, and the Saturday after it. */
const weekday = new Date('2026-11-24T00:00:00Z')
const weekend = new Date('2026-11-28T00:00:00Z')
const modelsOn = (day: Date) =>
  new Map(loadBuiltInModels(providers, day).map((model) => [model.id, model]))
const catalog = { weekday: modelsOn(weekday), weekend: modelsOn(weekend) }

const noon = 720
/** DeepSeek's peak hours, minutes of the UTC day: 01:00 to 04:00 and 06:00 to 10:00 on weekdays. */
const peakMinutes = [60, 239, 360, 599]
const besidePeak = [59, 240, 359, 600]

const maxPrompt = 10_000_000
const outputLimit = 10_000

const volumeIn = (tier: PublishedPrice['tier']): TokenBounds => ({
  inputTokens: maxPrompt,
  maxPromptTokens: maxPrompt,
  serviceTier: tier === 'usual' || tier === 'peak' ? undefined : tier,
  choices: 1,
  outputLimit,
  extraOutputTokens: 0,
  inputsAudio: true,
  outputsAudio: true,
  images: 0,
  requests: 1,
  searches: 5,
})

const nothing: SampleUsage = {
  input: 0,
  cached: 0,
  write: 0,
  writeLong: 0,
  audioInput: 0,
  cachedAudio: 0,
  images: 0,
  output: 0,
  thought: 0,
  audioOutput: 0,
  searches: 0,
}

/** Responses report no sound, and no images. */
function mediaOf(
  { nanos }: PublishedPrice,
  rest: (parts: Partial<SampleUsage>) => SampleUsage,
): Record<string, SampleUsage> {
  const { heard: audioInput, 'heard-cached': again, seen: images, spoken } = nanos
  return {
    ...(audioInput !== undefined && { heard: rest({ audioInput: 321 }) }),
    ...(again !== undefined && {
      'heard again': rest({ cachedAudio: 321 }),
      'heard, read and heard again': rest({ audioInput: 17, cached: 101, cachedAudio: 43 }),
    }),
    ...(images !== undefined && { seen: rest({ images: 321 }) }),
    ...(spoken !== undefined && { spoken: rest({ audioInput: 17, audioOutput: 43 }) }),
  }
}

/** Of Claude's answers and of Responses: Tollgate charges for no other searches. */
const reportsSearches = (format: string) => format === 'anthropic' || format === 'responses'

/** The usages of prompts of `tokens` that the figures of a row price, by name. */
function shapesOf(row: PublishedPrice, tokens: number, format: string) {
  const { nanos } = row
  const has = (rate: keyof typeof nanos) => nanos[rate] !== undefined
  const rest = (parts: Partial<SampleUsage>): SampleUsage => {
    const {
      cached = 0,
      write = 0,
      writeLong = 0,
      audioInput = 0,
      cachedAudio = 0,
      images = 0,
    } = parts
    const named = cached + write + writeLong + audioInput + cachedAudio + images
    const output = has('output') ? 101 : 0
    return { ...nothing, output, ...parts, input: tokens - named }
  }
  const hasCache = has('cached') && format !== 'cohere'
  const keepsAnHour = has('write-1h') && format !== 'responses' && format !== 'deepseek'
  const shapes: Record<string, SampleUsage | undefined> = {
    ...(format !== 'responses' && mediaOf(row, rest)),
    plain: has('output') ? rest({}) : undefined,
    'read alone': rest({ output: 0 }),
    thought: has('output') ? rest({ thought: 222 }) : undefined,
    cached: hasCache ? rest({ cached: 707 }) : undefined,
    'all cached': hasCache ? rest({ cached: tokens }) : undefined,
    written: has('write') ? rest({ write: 707 }) : undefined,
    'written for an hour': keepsAnHour ? rest({ write: 101, writeLong: 303 }) : undefined,
    'cached, written and thought':
      hasCache && has('write') ? rest({ cached: 333, write: 77, thought: 55 }) : undefined,
    searched: has('search') && reportsSearches(format) ? rest({ searches: 3 }) : undefined,
  }
  return Object.entries(shapes).flatMap(([name, used]) => (used ? [[name, used] as const] : []))
}

/** The bill by the page's figures alone: tokens times prices, rounded up once. */
function due({ nanos }: PublishedPrice, used: SampleUsage): bigint {
  const parts = [
    [used.input, nanos.input],
    [used.cached, nanos.cached],
    [used.write, nanos.write],
    [used.writeLong, nanos['write-1h']],
    [used.audioInput, nanos.heard],
    [used.cachedAudio, nanos['heard-cached']],
    [used.images, nanos.seen],
    [used.output + used.thought, nanos.output],
    [used.audioOutput, nanos.spoken],
  ] as const
  const millionths = parts.reduce((sum, [count, price = 0n]) => sum + BigInt(count) * price, 0n)
  return (millionths + 999_999n) / 1_000_000n + BigInt(used.searches) * (nanos.search ?? 0n)
}

interface Charged {
  row: PublishedPrice
  day: keyof typeof catalog
  minute: number
}

/** The bill as Tollgate books it, from the provider's usage block on. */
function charged(used: SampleUsage, read: UsageReader, { row, day, minute }: Charged): bigint {
  const pricing = catalog[day].get(row.model)?.pricing
  if (!pricing) throw new Error(`${row.model} has no price.`)
  const volume = volumeIn(row.tier)
  const reported = read(used)
  if (!reported || reported.flawed) throw new Error(`${row.model}: the usage was not understood.`)
  // Providers with service tiers say which one they served.
  const reportedUsage = volume.serviceTier
    ? { ...reported, servedTier: volume.serviceTier }
    : reported
  const usage = limitUsage(reportedUsage, limitsAt(volume, outputLimit))
  const cost = costAt(usage, selectUsagePrice(usage, { pricing, minute, volume }), volume)
  expect(cost).toBeLessThanOrEqual(fullPrice(computeWorstCase(volume, pricing, minute)))
  return cost
}

/** Prompts that the row is for: some short one, and those at both of its ends. */
function promptsOf(row: PublishedPrice, longer: PublishedPrice | undefined): number[] {
  const last = longer && (longer.isRounded ? Math.floor(longer.from / 2) : longer.from - 1)
  const first = Math.max(row.from, 1000)
  return [...new Set([first, ...(last ? [last] : [])])]
}

/** The row of a longer prompt, if need be that of the usual tier: beyond it nothing is known. */
function longerThan(row: PublishedPrice, all: readonly PublishedPrice[]) {
  const above = (tier: PublishedPrice['tier']) =>
    all
      .filter((other) => other.tier === tier && other.from > row.from)
      .toSorted((one, other) => one.from - other.from)[0]
  return above(row.tier) ?? above('usual')
}

const model = (id: string) => {
  const known = catalog.weekday.get(id)
  const provider = providers.find(({ key }) => key === known?.provider)
  if (!known || !provider) throw new Error(`${id} is not in the catalogue.`)
  return { known, provider }
}

interface Case {
  name: string
  row: PublishedPrice
  used: SampleUsage
  read: UsageReader
  minute: number
}

/** All that a model is tried with: each row and format, at each length, usage and hour. */
function* casesOf(id: string): Generator<Case> {
  const { known, provider } = model(id)
  const all = rowsOf.get(id) ?? []
  const readers = Object.entries(usageReadersOf(provider, known))
  for (const row of all) {
    const minutes = row.tier === 'peak' ? peakMinutes : [noon]
    for (const tokens of promptsOf(row, longerThan(row, all))) {
      for (const [format, read] of readers) {
        for (const [shape, used] of shapesOf(row, tokens, format)) {
          const name = `${row.tier}, ${format}, ${tokens} tokens, ${shape}`
          yield* minutes.map((minute) => ({ name: `${name}, ${minute}`, row, used, read, minute }))
        }
      }
    }
  }
}

test.each([...rowsOf.keys()])('the bill of %s is the published price', (id) => {
  const bills: Record<string, bigint> = {}
  const published: Record<string, bigint> = {}
  for (const { name, row, used, read, minute } of casesOf(id)) {
    bills[name] = charged(used, read, { row, day: 'weekday', minute })
    published[name] = due(row, used)
  }
  expect(Object.keys(bills).length).toBeGreaterThan(0)
  expect(bills).toEqual(published)
})

test('outside of peak hours and on weekends DeepSeek costs its usual price', () => {
  for (const row of rows.filter((one) => one.tier === 'peak')) {
    const usual = rowsOf.get(row.model)?.find(({ tier }) => tier === 'usual')
    const { known, provider } = model(row.model)
    const [read] = Object.values(usageReadersOf(provider, known))
    if (!usual || !read) throw new Error(`${row.model} has no usual price.`)
    const used = { ...nothing, input: 1000, cached: 77, output: 33, thought: 44 }
    for (const minute of besidePeak) {
      expect(charged(used, read, { row: usual, day: 'weekday', minute })).toBe(due(usual, used))
    }
    for (const minute of peakMinutes) {
      expect(charged(used, read, { row: usual, day: 'weekend', minute })).toBe(due(usual, used))
    }
  }
})

const fees = rows.filter(({ nanos }) => nanos.search !== undefined)

test.each(fees)('$model: the fee of a search is the published one', ({ model: id, nanos }) => {
  expect(catalog.weekday.get(id)?.pricing?.search).toBe(nanos.search)
})

test('on public holidays of China DeepSeek costs its usual price', () => {
  for (const { model: id } of rows.filter(({ tier }) => tier === 'peak')) {
    const holiday = modelsOn(new Date('2027-01-01T02:00:00Z')).get(id)
    const monday = modelsOn(new Date('2027-01-04T02:00:00Z')).get(id)
    expect([id, holiday?.pricing?.tiers]).toEqual([id, undefined])
    expect([id, monday?.pricing?.tiers?.length]).toEqual([id, 2])
  }
})

/** Announced on the price page and in the notes of the launch: the day before and the first day, in USD. */
const untilNewYear = {
  day: '2027-01-01',
  before: [0.75, 3.75, 0.075],
  after: [1.5, 7.5, 0.15],
}
const announced = [
  { id: 'google/gemini-4-argon', day: '2026-12-01', before: [2, 10, 0.1], after: [4, 20, 0.2] },
  { id: 'google/gemini-3.8-flash', ...untilNewYear },
  { id: 'google/gemini-3.7-flash', ...untilNewYear },
  { id: 'google/gemini-3.6-flash', ...untilNewYear },
]

test.each(announced)('$id costs the announced price from $day on', ({ id, day, before, after }) => {
  const first = new Date(`${day}T00:00:00Z`)
  const ratesAt = (at: Date): readonly number[] => {
    const { input = 0n, output = 0n, cachedInput = 0n } = modelsOn(at).get(id)?.pricing ?? {}
    return [input, output, cachedInput].map((nanos) => Number(nanos) / 1e9)
  }
  expect(ratesAt(new Date(first.getTime() - 1))).toEqual(before)
  expect(ratesAt(first)).toEqual(after)
})

test('60 models and more are compared with figures that were read on a copy of the page', () => {
  const read = new Set(rows.filter(({ known }) => known === 'page').map(({ model: id }) => id))
  expect(read.size).toBeGreaterThanOrEqual(60)
})

test('no figure is from memory alone', () => {
  expect(rows.filter(({ known }) => known === 'recalled')).toEqual([])
})

test('all tiers and kinds of usage that pages price are compared', () => {
  const tiers = new Set(rows.map(({ tier }) => tier))
  expect(tiers).toEqual(new Set(['usual', 'flex', 'priority', 'batch', 'peak']))
  const rates = new Set(rows.flatMap(({ nanos }) => Object.keys(nanos)))
  expect(rates).toEqual(new Set<string>(publishedRates))
})
