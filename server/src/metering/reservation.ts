import type { Budget } from './budget'
import type { ChargeRatio } from './charge-ratio'
import type { WorstCase } from './worst-case'
import type { Model, Pricing } from '../catalog/model'
import type { CreditDemand } from '../ledger/credit-demand'
import type { Hold } from '../ledger/local-lease'
import type { BillingMode } from '../ledger/usage-event'
import type { MaybePromise } from '../platform/maybe-promise'

/** The reservation that an attempt is paid from; undefined for one that costs nothing. */
export interface Reservation {
  /** Undefined where nothing is charged, but the price is counted. */
  hold: Hold | undefined
  pricing: Pricing
  /** The minute of the UTC day in which the hold was taken: prices by the hour stay those of the beginning. */
  minute: number
  /** The worst case of the charge: where that is a fraction of the price, the same fraction of the worst case. */
  worst: WorstCase
  /** The charged fraction of the price. */
  chargeRatio: ChargeRatio
  /** The paid output limit of each answer. */
  outputLimit: number
  contextLength: number | null
  /** The paying account, and its limits of the charge. */
  accountId: string
  budget: Budget | undefined
  /** Its budgets in tokens, if any. */
  tokens?: Budget
  /** When limits on spending last held for it: the attempt counts in the windows of then. */
  heldAtMs: number | undefined
}

/** Extends holds in the way in which the first one was taken. */
export interface Payer {
  /** Throws or rejects with `InsufficientCredit`. */
  extendHold: (reservation: Reservation, need: CreditDemand) => MaybePromise<Hold>
}

/** The candidate of an attempt that is about to start, and the account it is billed to. */
export interface AttemptStart {
  model: Model
  provider: { key: string }
  connection: {
    id: string
    gatewayId?: string | null
    /** The account that owns it; null for the operator's own. */
    owner?: string | null
    options?: { readonly hide_cached_tokens?: boolean }
  }
  billing: { mode: BillingMode; payer: string | null; organizationId: string | null }
}
