import type { Principal } from '../auth/principal'
import type { Budget } from '../metering/budget'
import type { SpendingLimits } from '../metering/spending-limits'
import { joinHolds, type UnitHold } from '../metering/unit-hold'
import type { WindowReservation } from '../metering/window-reservation'
import { matchesFilter } from '../platform/usage-filter'

interface Options {
  spendingLimits: Pick<SpendingLimits, 'admit'>
  principal: Pick<Principal, 'userId' | 'limits'>
  /** The limits that count all requests, if there are any; the request ends them. */
  spending: WindowReservation | undefined
  /** The tags of the request that budgets count; null for none. */
  tags: readonly string[] | null
}

/** The admission of a request to the budgets of one model. */
interface ModelAdmission {
  modelId: string
  admitting: Promise<void>
  /** Set where budgets count it. */
  entry?: Entry
}

/** The budgets of a model, and the holds of them and of the limits that count all requests. */
interface Entry {
  reservation: WindowReservation
  spending: UnitHold
  tokens: UnitHold | undefined
}

/**
 * The use that one request makes of the budgets of its account and its key: of those that count all requests, and of
 * those with a filter that has the model of its attempt. Another model counts in the budgets of that model alone.
 */
export class RequestBudgets {
  readonly #options: Options
  #admission: ModelAdmission | undefined
  #isOver = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Whether the budgets depend on the model. */
  get isFiltered(): boolean {
    return this.#options.principal.limits.filtered.length > 0
  }

  /**
   * Counts the request in the budgets of the model that is about to be called, and no more in those of the one before.
   * Rejects as `SpendingLimits.admit`; so does every further call for the model.
   */
  admit(modelId: string): Promise<void> {
    if (this.#admission?.modelId === modelId) return this.#admission.admitting
    this.cancel()
    this.#leave()
    const admission: ModelAdmission = { modelId, admitting: Promise.resolve() }
    this.#admission = admission
    admission.admitting = this.#admit(admission)
    return admission.admitting
  }

  /** Returns the limits on spending that count; undefined for none. `isOwn`: the account itself pays. */
  spendingFor(isOwn: boolean): Budget | undefined {
    const spending = this.#spending
    return isOwn ? spending : spending?.paidByOthers()
  }

  /** The budgets in tokens that count; undefined for none. */
  get tokens(): UnitHold | undefined {
    const entry = this.#admission?.entry
    return entry ? entry.tokens : this.#options.spending?.tokens
  }

  get #spending(): UnitHold | undefined {
    return this.#admission?.entry?.spending ?? this.#options.spending
  }

  /** Marks that nothing is to be used of any of them for now. */
  cancel(): void {
    this.#spending?.hold(0n)
    this.tokens?.hold(0n)
  }

  /** The request has ended, in the same tick as its meter. Twice is harmless. */
  end(): void {
    this.#isOver = true
    this.#leave()
  }

  #leave(): void {
    const entry = this.#admission?.entry
    entry?.spending.end()
    entry?.tokens?.end()
    entry?.reservation.end()
  }

  async #admit(admission: ModelAdmission): Promise<void> {
    const { spendingLimits, principal, tags } = this.#options
    const { userId, limits } = principal
    const use = { model: admission.modelId, tags }
    const windows = limits.filtered.filter(
      ({ budget }) => budget?.filter && matchesFilter(budget.filter, use),
    )
    if (windows.length === 0) return
    const reservation = await spendingLimits.admit({ userId, limits: { windows } })
    // It may have ended, or gone on to another model, while shares were exchanged.
    if (this.#isOver || this.#admission !== admission) return reservation.end()
    const { spending: all } = this.#options
    admission.entry = {
      reservation,
      spending: joinHolds(all, reservation, 'spent') ?? reservation,
      tokens: joinHolds(all?.tokens, reservation.tokens, 'tokens'),
    }
  }
}

/** A request, and the limits that count all requests of its account and its key. */
interface Budgeted {
  request: {
    ports: { spendingLimits: SpendingLimits }
    principal: Options['principal']
    budgetTags?: readonly string[] | null
  }
  spending: WindowReservation | undefined
}

/** Returns the use of budgets by a request; undefined for an account without any. */
export function toRequestBudgets({
  request: { ports, principal, budgetTags: tags = null },
  spending,
}: Budgeted): RequestBudgets | undefined {
  if (!spending && principal.limits.filtered.length === 0) return undefined
  return new RequestBudgets({ spendingLimits: ports.spendingLimits, principal, spending, tags })
}
