import type { WindowLimit } from '../limits/caller-limits'
import type { Budget } from '../metering/budget'
import type { SpendingLimits } from '../metering/spending-limits'
import { joinHolds, type UnitHold } from '../metering/unit-hold'
import type { WindowReservation } from '../metering/window-reservation'
import { matchesFilter } from '../platform/usage-filter'

/** The account of a request, and the organization where its budgets are those of one, with budgets of some models or tags. */
interface BudgetedCaller {
  userId: string
  organizationId?: string
  /** Those with a filter count only its requests. */
  budgets: readonly WindowLimit[]
}

interface Options {
  spendingLimits: Pick<SpendingLimits, 'admit'>
  caller: BudgetedCaller
  /** Further limits, which count all requests; the request ends them. */
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
 * The use that one request makes of the budgets of its account and its key, or of an organization that pays: of those that
 * count all requests, and of those with a filter that has the model of its attempt. Another model counts in the budgets of
 * that model alone.
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
    return this.#options.caller.budgets.length > 0
  }

  /**
   * Counts the request in the budgets of the model that is about to be called, and no more in those of the one before.
   * Rejects as `SpendingLimits.admit`; so does every further call for the model.
   */
  admit(modelId: string): Promise<void> {
    if (this.#admission?.modelId === modelId) return this.#admission.admitting
    this.leave()
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

  /** Counts the request in no budget of a model any more. */
  leave(): void {
    this.cancel()
    this.#leave()
    this.#admission = undefined
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
    const { spendingLimits, caller, tags } = this.#options
    const { userId, organizationId, budgets } = caller
    const use = { model: admission.modelId, tags }
    const windows = budgets.filter(
      ({ budget }) => !budget?.filter || matchesFilter(budget.filter, use),
    )
    if (windows.length === 0) return
    const reservation = await spendingLimits.admit({ userId, organizationId, limits: { windows } })
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
