import { figuresFor, type Result } from './result'

/** One row of the speed that is promised: what must hold, and what is wanted. */
interface Target {
  figure: string
  unit: string
  /** Bounds: at most where lower is better, else at least. */
  must: number
  aim: number
  isAtLeast?: boolean
  found: number | undefined
}

const rateRatio = (result: Result, other: string): number | undefined => {
  const own = figuresFor(result, 'tollgate', 'chat-64')?.rate
  const its = figuresFor(result, other, 'chat-64')?.rate
  return own === undefined || its === undefined ? undefined : own / its
}

function targetsOf(result: Result): Target[] {
  const of = (scenario: string) => figuresFor(result, 'tollgate', scenario)
  const own = result.participants.find(({ name }) => name === 'tollgate')
  return [
    {
      figure: 'CPU of a plain chat request, gateway alone',
      unit: 'µs',
      must: 80,
      aim: 50,
      found: of('chat-64')?.cpuPerRequest,
    },
    {
      figure: 'CPU of a relayed chunk',
      unit: 'µs',
      must: 15,
      aim: 12,
      found: of('stream-0-200')?.cpuPerChunk,
    },
    {
      figure: 'added p50 at 1 connection',
      unit: 'ms',
      must: 0.4,
      aim: 0.2,
      found: of('chat-1')?.addedP50,
    },
    {
      figure: 'requests a second, of nginx',
      unit: '×',
      must: 0.4,
      aim: 0.6,
      isAtLeast: true,
      found: rateRatio(result, 'nginx'),
    },
    {
      figure: 'requests a second, of the npm peer',
      unit: '×',
      must: 8,
      aim: 12,
      isAtLeast: true,
      found: rateRatio(result, 'portkey'),
    },
    {
      figure: 'resident memory at 1,000 open streams',
      unit: 'MB',
      must: 200,
      aim: 120,
      found: of('stream-10-1000')?.residentMb,
    },
    { figure: 'first start ever', unit: 'ms', must: 3000, aim: 1500, found: own?.firstStartMs },
    {
      figure: 'later start to the first answer',
      unit: 'ms',
      must: 1000,
      aim: 500,
      found: own?.startMs,
    },
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

/** The targets as a Markdown table. */
export const targetsTable = (result: Result): string =>
  [
    '| figure | must | aim | measured | reached |',
    '|---|---|---|---|---|',
    ...targetsOf(result).map(row),
  ].join('\n')
