import { eventually, eventuallyReads } from '../../server/testing/eventually'
import type { Gateway } from './server'

/** One line of what `/metrics` tells. */
export interface Series {
  name: string
  labels: Record<string, string>
  value: number
}

export interface Scrape {
  text: string
  series: readonly Series[]
  /** Names and types as they are declared. */
  types: ReadonlyMap<string, string>
  /** The sum of all series of a name that have these labels. */
  sum: (name: string, labels?: Record<string, string>) => number
}

/** Where a gateway that was started with `METRICS_PORT=0` serves its metrics. */
export async function internalUrl(gateway: Pick<Gateway, 'output'>): Promise<string> {
  const listening = /"host":"([^"]+)","port":(\d+),"msg":"metrics are served"/
  // Lines of the log go out together, a little later.
  await eventually(() => listening.test(gateway.output()))
  const [, host, port] = listening.exec(gateway.output()) ?? []
  return `http://${host}:${port}`
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9.e+-]+|NaN|[+-]Inf)$/
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y

function labelsIn(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  label.lastIndex = 0
  while (label.lastIndex < text.length) {
    const found = label.exec(text)
    if (!found) throw new Error(`no labels: ${text}`)
    labels[found[1] ?? ''] = found[2] ?? ''
  }
  return labels
}

/** Reads the text format. Throws where it is none, and where a series is there twice. */
export function parseMetrics(text: string): Scrape {
  const series: Series[] = []
  const types = new Map<string, string>()
  const seen = new Set<string>()
  for (const one of text.split('\n')) {
    const [, typed = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(one) ?? []
    if (typed !== '') types.set(typed, type)
    if (one === '' || one.startsWith('#')) continue
    const [, name, labels = '', value] = line.exec(one) ?? []
    if (name === undefined) throw new Error(`no metric: ${one}`)
    const key = `${name}{${labels}}`
    if (seen.has(key)) throw new Error(`told twice: ${key}`)
    seen.add(key)
    series.push({ name, labels: labelsIn(labels), value: Number(value) })
  }
  const has = (wanted: Record<string, string>) => (one: Series) =>
    Object.entries(wanted).every(([key, value]) => one.labels[key] === value)
  return {
    text,
    series,
    types,
    sum: (name, labels = {}) =>
      series
        .filter((one) => one.name === name && has(labels)(one))
        .reduce((total, { value }) => total + value, 0),
  }
}

export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`)
  if (response.status !== 200) throw new Error(`metrics: ${response.status}`)
  return parseMetrics(await response.text())
}

/** Reads the metrics once no request runs, and all that was settled is booked. */
export const scrapeWhenBooked = (url: string): Promise<Scrape> =>
  eventuallyReads(
    () => scrape(url),
    ({ sum }) =>
      ['tollgate_running_requests', 'tollgate_journal_depth', 'tollgate_journal_running'].every(
        (name) => sum(name) === 0,
      ),
  )
