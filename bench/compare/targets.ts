import { figuresFor, type Result } from './result'

/** A performance target: the bound that must hold, and the aim. */
interface Target extends Bounds {
  figure: string
  unit: string
  found: number | undefined
}

const rateRatio = (result: Result, other: string): number | undefined => {
  const own = figuresFor(result, 'tollgate', 'chat-64')?.rate
  const its = figuresFor(result, other, 'chat-64')?.rate
  return own === undefined || its === undefined ? undefined : own / its
}

/** An upper bound where lower is better, else a lower bound. */
interface Bounds {
  must: number
  aim: number
  isAtLeast?: boolean
}

const cpuOfRequest = { must: 80, aim: 50 }
const cpuOfChunk = { must: 15, aim: 12 }

const target = (
  [figure, unit]: [string, string],
  bounds: Bounds,
  found: number | undefined,
): Target => ({ figure, unit, ...bounds, found })

function targetsOf(result: Result): Target[] {
  const of = (scenario: string) => figuresFor(result, 'tollgate', scenario)
  const own = result.participants.find(({ name }) => name === 'tollgate')
  const nginx = { must: 0.4, aim: 0.6, isAtLeast: true }
  const peer = { must: 8, aim: 12, isAtLeast: true }
  const resident = { must: 200, aim: 120 }
  return [
    target(['CPU of a plain chat request', 'µs'], cpuOfRequest, of('chat-64')?.cpuPerRequest),
    target(['CPU of a chunk, 0 ms apart', 'µs'], cpuOfChunk, of('stream-0-200')?.cpuPerChunk),
    target(['CPU of a chunk, 10 ms apart', 'µs'], cpuOfChunk, of('stream-10-200')?.cpuPerChunk),
    target(['added p50, 1 connection', 'ms'], { must: 0.4, aim: 0.2 }, of('chat-1')?.addedP50),
    target(['requests a second, of nginx', '×'], nginx, rateRatio(result, 'nginx')),
    target(['requests a second, of the npm peer', '×'], peer, rateRatio(result, 'portkey')),
    target(['memory, 1,000 open streams', 'MB'], resident, of('stream-10-1000')?.residentMb),
    target(['first start ever', 'ms'], { must: 3000, aim: 1500 }, own?.firstStartMs),
    target(['later start to the first answer', 'ms'], { must: 1000, aim: 500 }, own?.startMs),
  ]
}

const rounded = (value: number) => value.toFixed(value < 1 ? 2 : value < 100 ? 1 : 0)

function row({ figure, unit, must, aim, isAtLeast = false, found }: Target): string {
  const sign = isAtLeast ? '≥' : '≤'
  const reaches = (bound: number) =>
    found !== undefined && (isAtLeast ? found >= bound : found <= bound)
  const measured = found === undefined ? 'not measured' : `${rounded(found)} ${unit}`
  const verdict = reaches(aim)
    ? 'aim'
    : reaches(must)
      ? 'must'
      : found === undefined
        ? '–'
        : 'missed'
  return `| ${figure} | ${sign} ${must} ${unit} | ${sign} ${aim} ${unit} | ${measured} | ${verdict} |`
}

/** Formats the targets as a Markdown table. */
export const targetsTable = (result: Result): string =>
  [
    '| figure | must | aim | measured | reached |',
    '|---|---|---|---|---|',
    ...targetsOf(result).map(row),
  ].join('\n')
