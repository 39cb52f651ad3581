/** Tokens in buckets that do not overlap. */
export interface TokenCounts {
  input: number
  cachedInput: number
  cacheWrite: number
  /** Written to a cache for an hour. */
  cacheWriteLong: number
  output: number
  reasoning: number
  audioInput: number
  audioOutput: number
  imageInput: number
  imageOutput: number
  /** Web searches of the provider's: no tokens. */
  searches: number
  /** Unicode code points and milliseconds, where the price has rates of these. */
  inputCharacters?: number | undefined
  outputCharacters?: number | undefined
  processingMs?: number | undefined
}

/** All tokens of the prompt. */
export const tokensRead = (tokens: TokenCounts): number =>
  tokens.input +
  tokens.cachedInput +
  tokens.cacheWrite +
  tokens.cacheWriteLong +
  tokens.audioInput +
  tokens.imageInput

/** All tokens of the answer. */
export const tokensWritten = (tokens: TokenCounts): number =>
  tokens.output + tokens.reasoning + tokens.audioOutput + tokens.imageOutput

/** Who pays for an attempt, and by which price. Source: contract 11.1. */
export type BillingMode = 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free'

/** A candidate that was not asked. */
export interface PassedOver {
  model: string
  provider: string
  connectionId: string | null
  /** The code of the error that it would have been, or `cooling_down`. */
  reason: string
}

/** What is known of an attempt when it begins. */
export interface AttemptBeginning {
  /** The attempt's id: doing it twice changes nothing. */
  id: string
  requestId: string
  userId: string
  keyId: string
  /** Who pays; null where nobody does. */
  accountId: string | null
  billingMode: BillingMode
  operation: 'chat' | 'completions' | 'embeddings'
  model: string
  provider: string
  connectionId: string | null
  streamed: boolean
  /** ISO 8601. */
  startedAt: string
  /** Nano-dollars by rate, as they were when the request began; at its end those that it had, and the tier. */
  pricing: Readonly<Record<string, string>> | null
  /** What the caller asked for; null where that is `model`. */
  requestedModel: string | null
  /** Who came before it and was not asked; null for nobody. */
  passedOver: readonly PassedOver[] | null
  /** Whose connection it was, or whose pool pays: an organization's. Its account has the same id. */
  organizationId: string | null
  /** The platform's part of the price, in millionths; null where there is no price. */
  feeMillionths: number | null
}

/** How an attempt ended. */
export interface AttemptEnd {
  /** The lease the hold was taken from; null where nothing was held. */
  leaseId: string | null
  /** `ok`, `cancelled` when the caller left, or the code of an error. */
  outcome: string
  /** Why it failed over: the code of an error; null for all others. */
  reason: string | null
  /** An orphan was open when its process died: visible, and charged nothing. */
  state: 'settled' | 'orphan'
  durationMs: number
  firstTokenMs: number | null
  tokens: TokenCounts
  estimated: boolean
  /** Nano-dollars. */
  cost: bigint
  /** The part of `cost` that the node took out of its lease. */
  fromLease: bigint
  /** Nano-dollars: what it would have cost where an organization pays its provider, or the house; else null. */
  price: bigint | null
}

/**
 * What one attempt used and cost. Written to the journal, then booked once, whatever happens. There is
 * one object of it from the attempt's beginning on, in which its end is filled in.
 */
export interface UsageEvent extends AttemptBeginning, AttemptEnd {}

/**
 * The cost that a request shows to its caller and counts against the limits of its key: what was charged,
 * or, where the house pays, the price. Nano-dollars.
 */
export const costToCaller = ({ billingMode, cost, price }: UsageEvent): bigint =>
  billingMode === 'house' ? (price ?? 0n) : cost
