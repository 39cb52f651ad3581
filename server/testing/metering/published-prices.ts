import { join } from 'node:path'

/** The quantities that a row of `published-prices.txt` prices. */
export const publishedRates = [
  'input',
  'cached',
  'write',
  'write-1h',
  'output',
  'heard',
  'heard-cached',
  'seen',
  'spoken',
  'search',
] as const
export type PublishedRate = (typeof publishedRates)[number]

/** One row: a provider's published prices for prompts of a length, in a service tier or at peak hours. */
export interface PublishedPrice {
  model: string
  /** The source of its figures: a copy of the page, rows of it, a quotation of it, or memory. */
  known: (typeof kinds)[number]
  tier: (typeof tiers)[number]
  /** The shortest prompt of the row, in tokens. */
  from: number
  /** Set where the page rounds that bound. */
  isRounded: boolean
  /** Nano-dollars per 1,000,000 tokens; those of `search` per search. */
  nanos: Partial<Record<PublishedRate, bigint>>
}

/** Converts USD as a page writes them, `0.00875`, to nano-dollars. */
function toNanos(usd: string): bigint {
  const found = /^(\d+)(?:\.(\d{1,9}))?$/.exec(usd)
  if (!found) throw new Error(`${usd} is no price.`)
  return BigInt(`${found[1]}${(found[2] ?? '').padEnd(9, '0')}`)
}

const tiers = ['usual', 'flex', 'priority', 'batch', 'peak'] as const
const kinds = ['page', 'rows', 'quoted', 'recalled'] as const

type Section = Pick<PublishedPrice, 'known'>

/** Reads `[page's address, source of the figures, the day]`; undefined for other lines. */
function toSection(line: string): Section | undefined {
  const [, kind] = /^\[https:\S+ (\w+) (?:\d{4}-\d\d-\d\d|-)\]$/.exec(line) ?? []
  const known = kinds.find((one) => one === kind)
  return known && { known }
}

function toPrice(line: string, section: Section | undefined): PublishedPrice {
  const [model = '', tierName, from = '', ...cells] = line.split(/ +/)
  const tier = tiers.find((known) => known === tierName)
  if (!section || !tier || cells.length !== publishedRates.length)
    throw new Error(`No row: ${line}`)
  const known = publishedRates.flatMap((rate, index) => {
    const cell = cells[index] ?? '-'
    return cell === '-' ? [] : [[rate, toNanos(cell)] as const]
  })
  return {
    model,
    ...section,
    tier,
    from: Number(from.replace('~', '')),
    isRounded: from.startsWith('~'),
    nanos: Object.fromEntries(known),
  }
}

/** Reads the table of published prices, in its order. */
export async function readPublishedPrices(): Promise<PublishedPrice[]> {
  const text = await Bun.file(join(import.meta.dir, 'published-prices.txt')).text()
  const prices: PublishedPrice[] = []
  let section: Section | undefined
  for (const line of text.split('\n')) {
    if (line.startsWith('[')) section = toSection(line)
    else if (line !== '' && !/^(#|model )/.test(line)) prices.push(toPrice(line, section))
  }
  return prices
}
