import { limitsOf, type Limits as CallerLimits } from '../auth/principal'
import type { MemberTerms } from '../catalog/account-catalog'
import type { MonthPass } from '../metering/month-pass'
import { memberIn, type Months } from '../metering/months'
import type { Admission, Limits } from '../policy/limits'

interface Options {
  ports: { limits: Limits; months: Months }
  userId: string
  /** Reserved of the tokens of a minute. */
  tokens: number
}

/** What a request has of one organization. */
interface Entered {
  admission: Admission
  month: MonthPass | undefined
}

/** Terms stay the same object until somebody changes them. */
const limitsBy = new WeakMap<MemberTerms, CallerLimits>()

function limitsIn(terms: MemberTerms, userId: string): CallerLimits {
  const known = limitsBy.get(terms)
  if (known) return known
  const { organizationId: id, memberSpend, ...rest } = terms
  const { monthly, ...limits } = limitsOf([{ id, ...rest }])
  const ofMember = { id: memberIn(id, userId), requests: null, spend: memberSpend }
  const made = { ...limits, monthly: memberSpend === null ? monthly : [...monthly, ofMember] }
  limitsBy.set(terms, made)
  return made
}

/**
 * What one request takes of the limits of organizations: those whose connections it is to be served by,
 * or whose pools are to pay for it. Each counts it once, however many of its candidates come to nothing.
 * Source: contract 3.1.
 */
export class OrganizationUse {
  readonly #options: Options
  readonly #entered = new Map<string, Promise<Entered>>()
  readonly #inside = new Map<string, Entered>()
  #isOver = false

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Counts the request. Rejects with `rate_limit_exceeded`, `tokens_per_minute_exceeded`, and with
   * `gateway_unavailable` where what was used this month cannot be read; so does every further call.
   */
  enter(terms: MemberTerms): Promise<unknown> {
    const { organizationId } = terms
    const known = this.#entered.get(organizationId)
    if (known) return known
    const entering = this.#enter(terms)
    this.#entered.set(organizationId, entering)
    return entering
  }

  /** The month's limits of an organization that was entered; undefined where it has none. */
  monthOf(organizationId: string): MonthPass | undefined {
    return this.#inside.get(organizationId)?.month
  }

  /** Nothing is to be spent of any of them for now. */
  spendNothing(): void {
    for (const { month } of this.#inside.values()) month?.hold(0n)
  }

  /** Nobody waits for the answer, but it goes on. Twice is harmless. */
  releasePlaces(): void {
    for (const { admission } of this.#inside.values()) admission.releasePlace()
  }

  /** The request has ended, in the same turn as its meter. Twice is harmless. */
  end(usedTokens: number, servedBy: string | null): void {
    this.#isOver = true
    for (const [id, entered] of this.#inside) leave(entered, id === servedBy ? usedTokens : 0)
    this.#inside.clear()
  }

  async #enter(terms: MemberTerms): Promise<Entered> {
    const { ports, userId, tokens } = this.#options
    const { organizationId } = terms
    const limits = limitsIn(terms, userId)
    const month =
      limits.monthly.length > 0
        ? await ports.months.admit({ userId, organizationId, limits })
        : undefined
    let admission: Admission | undefined
    try {
      admission = await ports.limits.admit({ limits })
      await admission.reserve(tokens)
    } catch (thrown) {
      admission?.release()
      month?.end()
      throw thrown
    }
    const entered = { admission, month }
    // It may have ended while the counters were asked.
    if (this.#isOver) leave(entered, 0)
    else this.#inside.set(organizationId, entered)
    return entered
  }
}

function leave({ admission, month }: Entered, usedTokens: number): void {
  admission.trueUp(usedTokens)
  admission.release()
  month?.end()
}
