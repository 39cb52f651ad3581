import { z } from 'zod'
import type { Config } from '../config/config'
import { storedUsd } from '../../wire/usd'

/** The sign-up modes: everyone, invited people only, or closed. */
export const signUps = ['open', 'invite', 'closed'] as const

/** Whether callers are charged for what a provider was sent and did not answer. */
export const unansweredCharges = ['charge', 'waive'] as const

/** The settings that an operator can change while the servers run. Source: contract 9.2. */
export interface Settings {
  /** Below this balance no paid request is admitted; nano-dollars. */
  minimumBalance: bigint
  /** Below this balance an account is warned; nano-dollars. */
  warningThreshold: bigint
  platformFeePercent: number
  /** Whether the platform's connections serve requests. */
  platformConnections: boolean
  /** The highest prices that owners may set for models of their connections; nano-dollars a million tokens. */
  ownerPriceLimits: { input: bigint; output: bigint }
  /**
   * The treatment of models without a price on the platform's connections; a price is nano-dollars a million tokens.
   */
  unpricedModels: 'refuse' | 'free' | { input: bigint; output: bigint }
  /** The Ed25519 key that signs catalogue documents, 32 bytes in base64; null if no signature is required. */
  catalogPublicKey: string | null
  signUp: (typeof signUps)[number]
  logBodies: boolean
  unansweredRequests: (typeof unansweredCharges)[number]
  rates: RequestRates
  timers: SetTimers
  /** The number of full days for which usage events are kept. */
  retentionDays: number
  allowedReturnOrigins: readonly string[]
  allowedPrivateNetworks: readonly string[]
}

/** Source: contract 3.1. */
export interface RequestRates {
  apiRequestsPerMinute: number
  publicRequestsPerMinute: number
  failedAuthenticationsPerMinute: number
  alertTestsPerHour: number
  invitationMailsPerDay: number
}

/** Milliseconds. Source: contract 3.4. */
export interface SetTimers {
  requestMs: number
  firstByteMs: number
  idleMs: number
  streamMs: number
  connectMs: number
}

/** Returns the settings that apply while nothing is stored: the environment, and defaults from the contract. */
export const defaultSettings = (config: Config): Settings => ({
  minimumBalance: config.minimumBalance,
  warningThreshold: 1_000_000_000n,
  platformFeePercent: 0,
  platformConnections: true,
  ownerPriceLimits: { input: 1_000_000_000_000n, output: 1_000_000_000_000n },
  unpricedModels: 'refuse',
  catalogPublicKey: null,
  signUp: config.signUp,
  logBodies: false,
  unansweredRequests: 'charge',
  rates: {
    apiRequestsPerMinute: 300,
    publicRequestsPerMinute: 60,
    failedAuthenticationsPerMinute: config.failedAuthenticationsPerMinute,
    alertTestsPerHour: 5,
    invitationMailsPerDay: 20,
  },
  timers: {
    requestMs: config.timers.requestMs,
    firstByteMs: config.timers.firstByteMs,
    idleMs: config.timers.idleMs,
    streamMs: config.timers.streamMs,
    connectMs: config.timers.connectMs,
  },
  retentionDays: config.retentionDays,
  allowedReturnOrigins: [],
  allowedPrivateNetworks: [],
})

const Nanos = storedUsd.exactOptional()
const Count = z.int().min(1).exactOptional()
const Milliseconds = z.int().min(1).max(86_400_000).exactOptional()

/** The stored row; a value is present once an operator has set it. */
const Stored = z.object({
  minimumBalance: Nanos,
  warningThreshold: Nanos,
  platformFeePercent: z.number().min(0).max(100).exactOptional(),
  platformConnections: z.boolean().exactOptional(),
  ownerPriceLimits: z.object({ input: Nanos, output: Nanos }).exactOptional(),
  unpricedModels: z
    .union([z.enum(['refuse', 'free']), z.object({ input: storedUsd, output: storedUsd })])
    .exactOptional(),
  catalogPublicKey: z.string().nullable().exactOptional(),
  signUp: z.enum(signUps).exactOptional(),
  logBodies: z.boolean().exactOptional(),
  unansweredRequests: z.enum(unansweredCharges).exactOptional(),
  rates: z
    .object({
      apiRequestsPerMinute: Count,
      publicRequestsPerMinute: Count,
      failedAuthenticationsPerMinute: Count,
      alertTestsPerHour: Count,
      invitationMailsPerDay: Count,
    })
    .exactOptional(),
  timers: z
    .object({
      requestMs: Milliseconds,
      firstByteMs: Milliseconds,
      idleMs: Milliseconds,
      streamMs: Milliseconds,
      connectMs: Milliseconds,
    })
    .exactOptional(),
  retentionDays: z.int().min(2).max(3650).exactOptional(),
  allowedReturnOrigins: z.array(z.string()).exactOptional(),
  allowedPrivateNetworks: z.array(z.string()).exactOptional(),
})

/** The changes to store; absent settings stay as they are. */
export type SettingsChange = z.output<typeof Stored>

/** Serializes a change for its column. JSON has no `bigint`. */
export const toColumn = (change: SettingsChange): string =>
  JSON.stringify(change, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )

/** Called with the name of a stored value that is invalid. */
type OnDamaged = (name: string, error: unknown) => void

function readColumn(column: object, onDamaged: OnDamaged): SettingsChange {
  const whole = Stored.safeParse(column)
  if (whole.success) return whole.data
  const damaged = new Set(whole.error.issues.map(({ path: [name] }) => String(name)))
  for (const name of damaged) onDamaged(name, whole.error)
  const sound = Object.entries(column).filter(([name]) => !damaged.has(name))
  return Stored.parse(Object.fromEntries(sound))
}

/** Merges the stored settings into the defaults; invalid values are left out. */
export function toSettings(defaults: Settings, column: object, onDamaged: OnDamaged): Settings {
  const stored = readColumn(column, onDamaged)
  return {
    ...defaults,
    ...stored,
    ownerPriceLimits: { ...defaults.ownerPriceLimits, ...stored.ownerPriceLimits },
    rates: { ...defaults.rates, ...stored.rates },
    timers: { ...defaults.timers, ...stored.timers },
  }
}
