import { findPayerBudgets } from './organization-limits'
import { RequestBudgets } from './request-budgets'
import type { Principal } from '../auth/principal'
import type { Budget } from '../metering/budget'
import type { SpendingLimits } from '../metering/spending-limits'
import { joinHolds, type UnitHold } from '../metering/unit-hold'
import type { WindowReservation } from '../metering/window-reservation'
import type { Candidate } from '../routing/candidate'

interface Options {
  request: {
    ports: { spendingLimits: Pick<SpendingLimits, 'admit'> }
    principal: Pick<Principal, 'userId' | 'limits'>
    /** The tags of the request that budgets count; null for none. */
    budgetTags?: readonly string[] | null
  }
  /** The limits that count all requests of the account and its key, if there are any; the request ends them. */
  spending: WindowReservation | undefined
}

/** The hold of tokens of the budgets of the account and of the organization that pays, together. */
interface JoinedTokens {
  own: UnitHold
  payer: UnitHold
  hold: UnitHold
}

/**
 * The use that one request makes of budgets: of those of its account and its key, and of those of the organization that
 * pays the candidate that is tried.
 */
export class CandidateBudgets {
  readonly #options: Options
  readonly #own: RequestBudgets | undefined
  /** Those of organizations that would have paid, or pay. */
  readonly #payers = new Map<string, RequestBudgets>()
  #payer: RequestBudgets | undefined
  #jointTokens: JoinedTokens | undefined

  constructor(options: Options) {
    const { request, spending } = options
    const { userId, limits } = request.principal
    const budgets = limits.filtered
    this.#options = options
    this.#own =
      spending || budgets.length > 0
        ? new RequestBudgets({ ...toShared(request), caller: { userId, budgets }, spending })
        : undefined
  }

  /** Whether the budgets depend on the candidate that is tried. */
  get isPerCandidate(): boolean {
    return this.#own?.isFiltered === true || this.#payer !== undefined
  }

  /** Counts the request in the budgets of its account and its key that have the model of a candidate. Rejects as those do. */
  async admit({ model }: Candidate): Promise<void> {
    if (this.#own?.isFiltered) await this.#own.admit(model.id)
    this.#endStaleTokens()
  }

  /**
   * Counts the request in the budgets of the organization that pays a candidate, and no more in those of another one.
   * `spending`: the organization's monthly limits. Rejects as `SpendingLimits.admit`.
   */
  async admitPayer(candidate: Candidate, spending: WindowReservation | undefined): Promise<void> {
    const payer = this.#findPayer(candidate, spending)
    if (payer !== this.#payer) this.#payer?.leave()
    this.#payer = payer
    if (payer) await payer.admit(candidate.model.id)
    this.#endStaleTokens()
  }

  /** Returns the limits on the caller's spending that count; undefined for none. `isOwn`: the account itself pays. */
  spendingFor(isOwn: boolean): Budget | undefined {
    return this.#own?.spendingFor(isOwn)
  }

  /** The budgets and the monthly limits of the organization that pays; undefined where it has no budgets. */
  get payerSpending(): Budget | undefined {
    return this.#payer?.spendingFor(true)
  }

  /** The budgets in tokens that count; undefined for none. */
  get tokens(): UnitHold | undefined {
    const own = this.#own?.tokens
    const payer = this.#payer?.tokens
    if (!own || !payer) return own ?? payer
    this.#endStaleTokens()
    if (this.#jointTokens) return this.#jointTokens.hold
    const hold = joinHolds(own, payer, 'tokens')
    if (hold) this.#jointTokens = { own, payer, hold }
    return hold
  }

  /** Marks that nothing is to be used of any of them for now. */
  cancel(): void {
    this.#own?.cancel()
    this.#payer?.cancel()
    this.#jointTokens?.hold.hold(0n)
  }

  /** The request has ended, in the same tick as its meter. Twice is harmless. */
  end(): void {
    this.#jointTokens?.hold.end()
    this.#own?.end()
    for (const payer of this.#payers.values()) payer.end()
  }

  /** Ends a hold of tokens of budgets that do not count the request any more. */
  #endStaleTokens(): void {
    const { own, payer, hold } = this.#jointTokens ?? {}
    if (own === this.#own?.tokens && payer === this.#payer?.tokens) return
    hold?.end()
    this.#jointTokens = undefined
  }

  #findPayer(
    candidate: Candidate,
    spending: WindowReservation | undefined,
  ): RequestBudgets | undefined {
    const { request } = this.#options
    const { userId } = request.principal
    const { organizationId } = candidate.billing
    const budgets = findPayerBudgets(candidate, userId)?.limits ?? []
    if (organizationId === null || budgets.length === 0) return undefined
    const knownPayer = this.#payers.get(organizationId)
    if (knownPayer) return knownPayer
    const caller = { userId, organizationId, budgets }
    const payer = new RequestBudgets({ ...toShared(request), caller, spending })
    this.#payers.set(organizationId, payer)
    return payer
  }
}

const toShared = ({ ports, budgetTags = null }: Options['request']) => ({
  spendingLimits: ports.spendingLimits,
  tags: budgetTags,
})

/** Returns the use of budgets by a request; undefined for an account without any. */
export function toCandidateBudgets(options: Options): CandidateBudgets | undefined {
  const { request, spending } = options
  const isBudgeted = spending !== undefined || request.principal.limits.filtered.length > 0
  return isBudgeted ? new CandidateBudgets(options) : undefined
}
