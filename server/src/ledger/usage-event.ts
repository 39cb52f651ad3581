import type { TokenCounts } from '../wire/usage'

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

/** The payer of an attempt, and the price that applies. Source: contract 11.1. */
export type BillingMode = 'platform' | 'house' | 'byok' | 'org_pays' | 'member_pays' | 'free'

/** A candidate that was skipped. */
export interface PassedOver {
  model: string
  provider: string
  connectionId: string | null
  /** The code of the error that the candidate would have failed with, or `cooling_down`. */
  reason: string
}

/** The part of a usage event that is known when an attempt begins. */
export interface AttemptBeginning {
  /** The attempt's id: booking it twice changes nothing. */
  id: string
  requestId: string
  userId: string
  keyId: string
  /** The paying account; null for none. */
  accountId: string | null
  billingMode: BillingMode
  operation:
    | 'chat'
    | 'completions'
    | 'embeddings'
    | 'moderations'
    | 'rerank'
    | 'images'
    | 'speech'
    | 'transcriptions'
    | 'translations'
  model: string
  provider: string
  connectionId: string | null
  streamed: boolean
  /** ISO 8601. */
  startedAt: string
  /** Nano-dollars by rate, as they were when the request began; at its end the rates that applied, and the tier. */
  pricing: Readonly<Record<string, string>> | null
  /** The model as the caller named it; null where that is `model`. */
  requestedModel: string | null
  /** The candidates that were skipped before it; null for none. */
  passedOver: readonly PassedOver[] | null
  /** The organization whose connection served it, or whose pool pays. Its account has the same id. */
  organizationId: string | null
  /** The platform's part of the price, in millionths; null where there is no price. */
  feeMillionths: number | null
  /** The tags of the request that budgets of its account count; null for none. */
  budgetTags: readonly string[] | null
}

/** The part of a usage event that is known when an attempt ends. */
export interface AttemptEnd {
  /** The lease that the hold was taken from; null where nothing was held. */
  leaseId: string | null
  /** `ok`, `cancelled` when the client disconnected, or the code of an error. */
  outcome: string
  /** The reason for a failover: the code of an error; null for all others. */
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
  /** Nano-dollars: the price where an organization pays its provider, or the house pays; else null. */
  price: bigint | null
  /** Nano-dollars that the provider bills the house; null where its price is unknown. The journal has it in the log. */
  providerCost: bigint | null
}

/**
 * The usage and cost of one attempt. Written to the journal, then booked once, whatever happens. One object
 * exists from the attempt's beginning on; its end is filled in.
 */
export interface UsageEvent extends AttemptBeginning, AttemptEnd {}

/**
 * Returns the cost that a request reports to its caller and counts against the limits of its key: what was
 * charged, or, where the house pays, the price. Nano-dollars.
 */
export const costToCaller = ({ billingMode, cost, price }: UsageEvent): bigint =>
  billingMode === 'house' ? (price ?? 0n) : cost
