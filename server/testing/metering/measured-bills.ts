import { join } from 'node:path'

const kinds = ['image', 'transcription', 'rerank', 'embedding', 'moderation'] as const

/** One row of `measured-bills.txt`: a request, the counts of its provider, and its amount. */
export interface MeasuredBill {
  kind: (typeof kinds)[number]
  model: string
  /** The parts between its slashes. */
  order: string[]
  counted: Record<string, number>
  nanos: bigint
}

/** Converts USD with nine decimals to nano-dollars. */
function toNanos(usd: string): bigint {
  if (!/^\d+\.\d{9}$/.test(usd)) throw new Error(`${usd} is no amount.`)
  return BigInt(usd.replace('.', ''))
}

function toCounts(text: string): Record<string, number> {
  if (text === '-') return {}
  const pairs = text.split(',').map((pair) => pair.split('='))
  return Object.fromEntries(pairs.map(([name = '', count]) => [name, Number(count)]))
}

function toBill(line: string): MeasuredBill {
  const [kindName, model = '', order = '', counted = '', usd = ''] = line.split(/ +/)
  const kind = kinds.find((known) => known === kindName)
  if (!kind) throw new Error(`No row: ${line}`)
  return { kind, model, order: order.split('/'), counted: toCounts(counted), nanos: toNanos(usd) }
}

const isRow = (line: string) => line !== '' && !/^(#|kind )/.test(line)

/** Reads the table of bills, in its order. */
export async function readMeasuredBills(): Promise<MeasuredBill[]> {
  const text = await Bun.file(join(import.meta.dir, 'measured-bills.txt')).text()
  return text.split('\n').filter(isRow).map(toBill)
}
