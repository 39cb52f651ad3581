import type { CatalogEntryRow } from '../../src/catalog/catalog-file'
import type { Capability, Category } from '../../src/catalog/model'
import { type Facts, type Listings, toUnixSeconds } from './facts'
import { toOneLine } from '../../src/wire/one-line'

const maxName = 200
const kinds = ['text', 'image', 'audio', 'video']

const known = (modalities: readonly string[]) => modalities.filter((one) => kinds.includes(one))

/** Release dates for models without one in the sources. */
export interface Dates {
  /** Unix seconds by bare model name, the earliest of all providers. */
  releases: Map<string, number>
  /** The dates of the previous file. */
  earlier: Map<string, number>
  /** Unix seconds. */
  on: number
}

interface Described {
  provider: string
  id: string
  /** The facts, freshest first. */
  facts: Facts[]
}

/** Builds one entry from the sources' facts on a model, without its price. */
export function toEntry({ provider, id, facts }: Described, dates: Dates): CatalogEntryRow {
  const first = <Name extends keyof Facts>(name: Name) =>
    facts.find((source) => source[name] !== undefined)?.[name]
  const category = categoryOf(facts)
  const isEmbedding = category === 'embedding'
  const contextLength = findContextLength(facts)
  const maxOutput = first('maxOutputTokens')
  // JSON omits undefined fields.
  return {
    id: `${provider}/${id}`,
    // Some sources end a name with a tab.
    name: toOneLine(first('name') ?? id.split('/').at(-1) ?? id, maxName),
    category,
    context_length: isEmbedding ? undefined : contextLength,
    max_output_tokens:
      isEmbedding || maxOutput === undefined
        ? undefined
        : Math.min(maxOutput, contextLength ?? maxOutput),
    input: inputOf(facts),
    output: isEmbedding ? ['embedding'] : known(first('output') ?? ['text']),
    capabilities: category === 'chat' ? capabilitiesOf(provider, first) : [],
    created: first('created') ?? released(provider, id, dates),
    deprecated: first('deprecated'),
    dimensions: isEmbedding ? first('dimensions') : undefined,
  }
}

// Some sources file everything under chat, so the rarer category counts.
export function categoryOf(facts: Facts[]): Category {
  const all = facts.map(({ category }) => category)
  return (
    all.find((category) => category === 'embedding') ??
    all.find((category) => category === 'completion') ??
    'chat'
  )
}

const lengthsOf = (from: Facts[]) => from.flatMap(({ contextLength }) => contextLength ?? [])

/**
 * Returns the longest context in a fresh source: some list the length up to which the lower price
 * applies, and a length too short would reject prompts that the provider accepts. The oldest source has
 * lengths that were withdrawn since.
 */
function findContextLength(facts: Facts[]): number | undefined {
  const fresh = lengthsOf(facts.filter(({ isStale }) => !isStale))
  const lengths = fresh.length > 0 ? fresh : lengthsOf(facts)
  return lengths.length > 0 ? Math.max(...lengths) : undefined
}

// The freshest source has text and images only, so audio and video come from the others.
function inputOf(facts: Facts[]): string[] {
  const own = facts.find((source) => source.input)?.input ?? ['text']
  const all = new Set(facts.flatMap((source) => source.input ?? []))
  return kinds.filter((kind) => own.includes(kind) || (/audio|video/.test(kind) && all.has(kind)))
}

/** Derives capabilities: vision and audio from the modalities, JSON mode from tool calls. */
function capabilitiesOf(
  provider: string,
  first: (name: 'tools' | 'reasoning' | 'jsonSchema') => boolean | undefined,
): Capability[] {
  const schema = first('jsonSchema') ?? false
  // https://docs.perplexity.ai documents json_schema only, and no tools.
  const sonar = provider === 'perplexity'
  const tools = !sonar && (first('tools') ?? false)
  const held = {
    tools,
    reasoning: first('reasoning') ?? false,
    json_mode: !sonar && (tools || schema),
    json_schema: sonar || schema,
  }
  return (['tools', 'reasoning', 'json_mode', 'json_schema'] as const).filter((name) => held[name])
}

const dateInId = /[-@](20\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)/

/** Returns `gpt-5.4` for `azure/gpt-5.4-2026-03-05`, so that one provider's date serves another's name. */
const bareName = (id: string) =>
  (id.toLowerCase().split('/').at(-1) ?? id)
    .replace(/^([a-z]+\.)+/, '')
    .replace(new RegExp(`${dateInId.source}.*`), '')
    .replace(/[:@].*$/, '')

function dateOf(id: string): number | undefined {
  const [, year, month, day] = dateInId.exec(id) ?? []
  return year ? toUnixSeconds(`${year}-${month}-${day}`) : undefined
}

function released(provider: string, id: string, { releases, earlier, on }: Dates): number {
  // Mistral's `-2508` is August 2025.
  const [, year, month] = (provider === 'mistral' && /-(2[3-9])(0[1-9]|1[0-2])$/.exec(id)) || []
  return (
    dateOf(id) ??
    (year ? toUnixSeconds(`20${year}-${month}`) : undefined) ??
    earlier.get(`${provider}/${id}`) ??
    releases.get(bareName(id)) ??
    on
  )
}

/** Collects the earliest date of a model in any id or the previous file, by its bare name. */
export function releasesOf(
  sources: Listings[],
  earlier: Map<string, number>,
  on: number,
): Map<string, number> {
  const releases = new Map<string, number>()
  const add = (id: string, created: number | undefined) => {
    const known = releases.get(bareName(id)) ?? on
    if (created !== undefined && created < known) releases.set(bareName(id), created)
  }
  for (const listing of sources.flatMap((source) => [...source.values()])) {
    for (const id of listing.keys()) add(id, dateOf(id))
  }
  for (const [id, created] of earlier) add(id, created)
  return releases
}
