import { queryOptions } from '@tanstack/react-query'
import { admin } from '../api'

export const configQuery = queryOptions({
  queryKey: ['operator', 'config'],
  queryFn: async () => (await admin.config.$get()).json(),
})

export type Config = Awaited<ReturnType<NonNullable<typeof configQuery.queryFn>>>

/** A part of the configuration that is a number; its place, what it is, and what it means. */
export interface NumberField {
  path: string
  label: string
  about: string
  /** Of USD, of a hundred, of seconds; else things are counted. */
  unit?: 'usd' | 'percent' | 'seconds'
  min: number
  max?: number
}

interface Group {
  title: string
  fields: readonly NumberField[]
}

const most = 1_000_000_000
const dayOfSeconds = 86_400
const leastSeconds = 0.001

const rate = (name: string, label: string, about: string): NumberField => ({
  path: `rates.${name}`,
  label,
  about,
  min: 1,
  max: most,
})

const timer = (name: string, label: string, about: string): NumberField => ({
  path: `timers.${name}`,
  label,
  about,
  unit: 'seconds',
  min: leastSeconds,
  max: dayOfSeconds,
})

const highestPrice = 1_000_000

const priceLimit = (name: string, label: string, what: string): NumberField => ({
  path: `owner_price_limits.${name}`,
  label,
  about: `The most that owners of connections may charge for a million tokens ${what}; 0 and they may set no prices.`,
  unit: 'usd',
  min: 0,
  max: highestPrice,
})

export const moneyFields: readonly NumberField[] = [
  {
    path: 'minimum_balance',
    label: 'Minimum balance',
    about: 'Who has less gets nothing that costs.',
    unit: 'usd',
    min: 0,
    max: most,
  },
  {
    path: 'warning_threshold',
    label: 'Warning of a low balance',
    about: 'Who comes below it is told, by inbox and mail.',
    unit: 'usd',
    min: 0,
    max: most,
  },
  {
    path: 'platform_fee_percent',
    label: 'Fee',
    about: 'What the platform keeps of what members pay for connections of their organization.',
    unit: 'percent',
    min: 0,
    max: 100,
  },
  priceLimit('input', 'Highest price of input', 'that are read'),
  priceLimit('output', 'Highest price of output', 'that are written'),
]

export const numberGroups: readonly Group[] = [
  {
    title: 'Rates',
    fields: [
      rate('api_requests_per_minute', 'Requests to /api', 'Of one account, a minute.'),
      rate('public_requests_per_minute', 'Requests to /api/public', 'Of one address, a minute.'),
      rate(
        'failed_authentications_per_minute',
        'Wrong keys',
        'From one address, a minute; beyond it calls from there are refused for a while.',
      ),
      rate('alert_tests_per_hour', 'Tests of alerts', 'Of one account, an hour.'),
      rate('invitation_mails_per_day', 'Invitations by mail', 'Of one organization, a day.'),
    ],
  },
  {
    title: 'Patience',
    fields: [
      timer('request_seconds', 'A plain request', 'All attempts at providers together.'),
      timer('first_byte_seconds', 'The first byte of a stream', 'Until the provider begins.'),
      timer('idle_seconds', 'Silence within a stream', 'Between two events of the provider.'),
      timer('stream_seconds', 'A whole stream', 'From its beginning to its end.'),
      timer('connect_seconds', 'Connecting', 'To a provider, each attempt.'),
    ],
  },
]

/** Values that have names in them, and are changed one by one. */
const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is new in a configuration, within groups too. */
export function newIn(fields: object, before: object): object {
  const changed = Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
    const old: unknown = Reflect.get(before, name)
    if (JSON.stringify(value) === JSON.stringify(old)) return []
    return [[name, isGroup(value) && isGroup(old) ? newIn(value, old) : value]]
  })
  return Object.fromEntries(changed)
}
