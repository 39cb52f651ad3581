import { limitsIn } from './organization-limits'
import type { MemberTerms } from '../catalog/member-terms'
import type { WindowReservation } from '../metering/window-reservation'
import type { SpendingLimits } from '../metering/spending-limits'
import type { Admission, RateLimits } from '../limits/limits'
import type { MediaNeed, MediaUse } from '../limits/media-need'

interface Options {
  ports: { limits: RateLimits; spendingLimits: SpendingLimits }
  userId: string
  /** Reserved of the tokens of a minute. */
  tokens: number
  /** Reserved of the images or the seconds of sound of a minute. */
  media?: MediaNeed | undefined
}

/** The reservations of a request at one organization. */
interface Entered {
  admission: Admission
  spending: WindowReservation | undefined
}

/**
 * The use that one request makes of the limits of organizations: those whose connections may serve it, or whose pools
 * may pay for it. Each counts the request once, however many of its candidates fail. Source: contract 3.1.
 */
export class OrganizationUse {
  readonly #options: Options
  readonly #admissions = new Map<string, Promise<Entered>>()
  readonly #reservations = new Map<string, Entered>()
  #isOver = false

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Counts the request. Rejects with `rate_limit_exceeded`, with the error of the limit by tokens, images or seconds,
   * and with `gateway_unavailable` where this month's use cannot be read; so does every further call.
   */
  admit(terms: MemberTerms): Promise<unknown> {
    const { organizationId } = terms
    const knownAdmission = this.#admissions.get(organizationId)
    if (knownAdmission) return knownAdmission
    const admitting = this.#admit(terms)
    this.#admissions.set(organizationId, admitting)
    return admitting
  }

  /** The spending limits of an organization that was entered; undefined where it has none. */
  spendingOf(organizationId: string | null): WindowReservation | undefined {
    return organizationId === null ? undefined : this.#reservations.get(organizationId)?.spending
  }

  /** Marks that nothing is to be spent of any of them for now. */
  cancelSpending(): void {
    for (const { spending } of this.#reservations.values()) spending?.hold(0n)
  }

  /** Releases the places of a request that continues with no client waiting. Twice is harmless. */
  releaseSlots(): void {
    for (const { admission } of this.#reservations.values()) admission.releaseSlot()
  }

  /** The request has ended, in the same tick as its meter. Twice is harmless. */
  end(usedTokens: number, servedBy: string | null, usedMedia?: MediaUse): void {
    this.#isOver = true
    for (const [id, organization] of this.#reservations) {
      if (id === servedBy) leave(organization, usedTokens, usedMedia)
      else leave(organization, 0)
    }
    this.#reservations.clear()
  }

  async #admit(terms: MemberTerms): Promise<Entered> {
    const { ports, userId, tokens, media } = this.#options
    const { organizationId } = terms
    const { limits } = limitsIn(terms, userId)
    const spending =
      limits.windows.length > 0
        ? await ports.spendingLimits.admit({ userId, organizationId, limits })
        : undefined
    let admission: Admission | undefined
    try {
      admission = await ports.limits.admit({ limits })
      await admission.reserve(tokens, media)
    } catch (thrown) {
      admission?.release()
      spending?.end()
      throw thrown
    }
    const organization = { admission, spending }
    // It may have ended while the counters were read.
    if (this.#isOver) leave(organization, 0)
    else this.#reservations.set(organizationId, organization)
    return organization
  }
}

function leave({ admission, spending }: Entered, usedTokens: number, usedMedia?: MediaUse): void {
  admission.trueUp(usedTokens, usedMedia)
  admission.release()
  spending?.end()
}
