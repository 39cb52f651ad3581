import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'

export const configQuery = queryOptions({
  queryKey: ['operator', 'config'],
  queryFn: async () => bodyOf(api.GET('/api/admin/config')),
})

export type Config = Schemas['Config']

/** A numeric setting: its path, label and description. */
export interface NumberField {
  path: string
  label: string
  about: string
  /** The unit; a plain count when absent. */
  unit?: 'usd' | 'percent' | 'seconds'
  min: number
  max?: number
}

interface Group {
  title: string
  fields: readonly NumberField[]
}

const maxValue = 1_000_000_000
const dayOfSeconds = 86_400
const minSeconds = 0.001

const rate = (name: string, label: string, about: string): NumberField => ({
  path: `rates.${name}`,
  label,
  about,
  min: 1,
  max: maxValue,
})

const timer = (name: string, label: string, about: string): NumberField => ({
  path: `timers.${name}`,
  label,
  about,
  unit: 'seconds',
  min: minSeconds,
  max: dayOfSeconds,
})

const highestPrice = 1_000_000

const priceLimit = (name: string, label: string, tokenKind: string): NumberField => ({
  path: `owner_price_limits.${name}`,
  label,
  about: `The maximum price that connection owners may set per 1M ${tokenKind} tokens; 0 disables their own prices.`,
  unit: 'usd',
  min: 0,
  max: highestPrice,
})

export const moneyFields: readonly NumberField[] = [
  {
    path: 'minimum_balance',
    label: 'Minimum balance',
    about: 'Accounts below this balance cannot make paid requests.',
    unit: 'usd',
    min: 0,
    max: maxValue,
  },
  {
    path: 'warning_threshold',
    label: 'Low balance warning',
    about: 'Accounts below this balance are notified.',
    unit: 'usd',
    min: 0,
    max: maxValue,
  },
  {
    path: 'platform_fee_percent',
    label: 'Platform fee',
    about: "The platform's share of what members pay for their organization's connections.",
    unit: 'percent',
    min: 0,
    max: 100,
  },
  priceLimit('input', 'Maximum input price', 'input'),
  priceLimit('output', 'Maximum output price', 'output'),
]

export const numberGroups: readonly Group[] = [
  {
    title: 'Rate limits',
    fields: [
      rate('api_requests_per_minute', 'Requests to /api', 'Per account and minute.'),
      rate('public_requests_per_minute', 'Requests to /api/public', 'Per IP address and minute.'),
      rate(
        'failed_authentications_per_minute',
        'Invalid API keys',
        'Per IP address and minute; beyond this, requests from the address are rejected for a while.',
      ),
      rate('alert_tests_per_hour', 'Alert tests', 'Per account and hour.'),
      rate('invitation_mails_per_day', 'Invitation emails', 'Per organization and day.'),
    ],
  },
  {
    title: 'Timeouts',
    fields: [
      timer('request_seconds', 'Non-streaming request', 'All attempts together.'),
      timer(
        'first_byte_seconds',
        'First byte of a stream',
        'Until the provider starts to respond.',
      ),
      timer('idle_seconds', 'Idle stream', 'Between two events of the provider.'),
      timer('stream_seconds', 'Entire stream', 'From its start to its end.'),
      timer('connect_seconds', 'Connect', 'To a provider, per attempt.'),
    ],
  },
]

/** Nested settings, which are changed one by one. */
const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the changed settings, including those within groups. */
export function newIn(fields: object, before: object): object {
  const changed = Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
    const old: unknown = Reflect.get(before, name)
    if (JSON.stringify(value) === JSON.stringify(old)) return []
    return [[name, isGroup(value) && isGroup(old) ? newIn(value, old) : value]]
  })
  return Object.fromEntries(changed)
}
