import { type Facts, type Listings, positive } from './facts'
import { cleaned, normalized, type Quote } from './price'

interface Cost {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  tiers?: ({ inputTokensAbove: number } & Cost)[]
}

interface PiAiModel {
  id: string
  type: string
  name: string
  reasoning?: boolean
  input: string[]
  output?: string[]
  cost?: Cost
  contextWindow?: number
  maxTokens?: number
  compat?: { supportsStrictMode?: boolean }
}

/** Reads the models of `@earendil-works/pi-ai`, a file a provider. It lists models that agents can use. */
export async function readPiAi(files: Map<string, File>): Promise<Listings> {
  const listings: Listings = new Map()
  for (const [path, file] of files) {
    const [, provider] = /\/([a-z][^/]*)\.json$/.exec(path) ?? []
    if (provider === undefined) continue
    const apis: Record<string, Record<string, PiAiModel>> = await file.json()
    const models = Object.values(apis).flatMap((api) => Object.values(api))
    const chat = models.filter(({ type }) => type === 'chat')
    listings.set(provider, new Map(chat.map((model) => [model.id, toFacts(model)])))
  }
  return listings
}

const toFacts = (model: PiAiModel): Facts => ({
  category: 'chat',
  name: model.name,
  ...positive('contextLength', contextOf(model)),
  ...positive('maxOutputTokens', model.maxTokens),
  input: model.input,
  output: model.output ?? ['text'],
  // The package lists only models with tools, as it drives agents.
  tools: true,
  reasoning: model.reasoning ?? false,
  ...(model.compat?.supportsStrictMode === undefined
    ? {}
    : { jsonSchema: model.compat.supportsStrictMode }),
  ...toQuote(model.cost),
})

/** Returns the context; undefined where the package has the length up to which the lower price applies. */
const contextOf = ({ contextWindow, cost }: PiAiModel): number | undefined =>
  cost?.tiers?.some(({ inputTokensAbove }) => inputTokensAbove === contextWindow)
    ? undefined
    : contextWindow

const ratesOf = (cost: Cost) =>
  cleaned({
    input: cost.input,
    output: cost.output,
    cached_input: cost.cacheRead,
    cache_write: cost.cacheWrite,
  })

function toQuote(cost: Cost | undefined): { quote?: Quote } {
  // The package writes zero for an unknown price.
  if (!cost || (cost.input === 0 && cost.output === 0)) return {}
  const tiers = cost.tiers?.map((tier) => ({ above: tier.inputTokensAbove, ...ratesOf(tier) }))
  return { quote: { price: normalized({ ...ratesOf(cost), ...(tiers && { tiers }) }) } }
}
