import type { InboundRequest } from './request'
import { endingOf, written, type StreamObserver } from './settle-request'
import type { CandidateRunner } from './candidate-runner'
import type { UnansweredTotal } from './unanswered-use'
import type { Principal } from '../auth/principal'
import type { RequestLog } from '../request-logs/request-log'
import type { Ending, Meter } from '../metering/meter'
import type { MonthlyReservation } from '../metering/monthly-reservation'
import type { Admission } from '../limits/limits'
import type { Candidate } from '../routing/candidate'
import type { CachedConversation } from '../routing/conversation'
import { addUsage, completionTokens, promptTokens } from '../wire/usage'

/** The lifecycle of an authenticated request: ends every stage that it reached. */
export class RequestLifecycle implements StreamObserver {
  readonly call: InboundRequest
  readonly principal: Principal
  readonly log: RequestLog
  admission: Admission | undefined
  month: MonthlyReservation | undefined
  candidates: readonly Candidate[] = []
  meter: Meter | undefined
  turns:
    | Pick<
        CandidateRunner<never>,
        'ended' | 'releasePlaces' | 'unanswered' | 'candidate' | typeof Symbol.dispose
      >
    | undefined
  /** Notified of the route that served the request, so that the next request of its conversation goes there. */
  conversation: Pick<CachedConversation, 'served'> | undefined
  #ended: Promise<bigint> | undefined

  constructor(call: InboundRequest, principal: Principal, log: RequestLog) {
    this.call = call
    this.principal = principal
    this.log = log
  }

  get signal(): AbortSignal {
    return this.call.signal
  }

  /** It was counted. From here on it must be ended. */
  admitted(admission: Admission, month?: MonthlyReservation): void {
    this.admission = admission
    this.month = month
    this.call.tell(admission.quota)
  }

  opened(): void {
    this.meter?.answered()
  }

  left(): void {
    this.admission?.releasePlace()
    this.turns?.releasePlaces()
  }

  /** It failed before anything went out. Resolves when that is recorded, or takes too long. */
  async failed(thrown: unknown): Promise<void> {
    const ending = endingOf(thrown)
    if (this.admission) await written(this.settle({ usage: undefined, ...ending }))
    this.log.refuse(ending)
  }

  /** Only the first call counts: a request ends once, whatever notices it first. */
  settle(ending: Ending): Promise<bigint> {
    this.#ended ??= this.#end(ending)
    return this.#ended
  }

  #remember({ outcome }: Ending): void {
    const candidate = this.turns?.candidate
    if (!candidate || outcome !== 'ok') return
    const { model, connection } = candidate
    this.conversation?.served({ modelId: model.id, connectionId: connection.id })
  }

  /** The one place where a request ends, for whatever reason. */
  async #end(told: Ending): Promise<bigint> {
    const ending = withUnanswered(told, this.turns?.unanswered)
    this.log.ending(ending)
    // All in one tick: the limits count the amount that is charged.
    const booked = this.meter?.end(ending)
    const usage = this.meter?.used
    const usedTokens = usage ? promptTokens(usage) + completionTokens(usage) : 0
    this.admission?.trueUp(usedTokens)
    this.turns?.ended(usedTokens)
    this.#remember(ending)
    this.admission?.release()
    for (const { member } of this.candidates) member?.ended(ending.outcome)
    this.month?.end()
    let cost = 0n
    try {
      // Its last attempt has taken the log along; without one, the log is written alone.
      this.log.close()
      if (booked) cost = await booked
      return cost
    } finally {
      this.turns?.[Symbol.dispose]()
      this.call.settled?.(usage, cost)
    }
  }
}

/** An end with the use of its parts that came to no answer. */
function withUnanswered(ending: Ending, unpaid: UnansweredTotal | undefined): Ending {
  const { usage, outcome } = ending
  if (!unpaid || outcome === 'ok') return ending
  if (!usage) return { ...ending, ...unpaid }
  // Parts that went out are paid as they are.
  return unpaid.isFree ? ending : { ...ending, usage: addUsage(usage, unpaid.usage) }
}
