import { estimateOutputTokens, estimatePrompt, estimateUsage } from '../metering/estimate'
import type { Provider } from '../providers/provider'
import type { Loss } from '../upstream/classify-loss'
import type { JsonObject } from '../wire/json-body'
import { addUsage } from '../wire/add-usage'
import type { Usage } from '../wire/usage'

/** The operator's setting: whether callers are charged for requests that a provider received and did not answer. */
export interface UnansweredCharge {
  unansweredRequests: 'charge' | 'waive'
}

type Billed = 'all' | 'nothing'

/** The part that a provider bills of a request that it received and did not answer; it read the prompt at least. */
const billedByLoss: Readonly<Record<Loss, Readonly<Record<Provider['abort'], Billed>>>> = {
  // Otherwise a caller could have it read prompt after prompt for free.
  ended: { stops: 'all', unknown: 'all', bills_all: 'all', free: 'nothing' },
  // Most providers bill only answers.
  failed: { stops: 'nothing', unknown: 'nothing', bills_all: 'all', free: 'nothing' },
}

interface LostRequest {
  loss: Loss
  provider: Pick<Provider, 'abort'>
  /** The usage of the request as sent, and of its answer so far. */
  usage: () => Usage
}

/** The use of a request whose caller gets no answer. */
export interface UnansweredTotal {
  usage: Usage
  /** It costs nothing, but counts in limits. */
  isFree: boolean
  /** Its provider bills it all the same. */
  isWaived?: boolean
}

/** Decides, in one place, the part that providers bill of a request's parts where the request fails. */
export class UnansweredUse {
  readonly #settings: { readonly current: UnansweredCharge }
  #billedUsage: Usage | undefined
  #freeUsage: Usage | undefined

  constructor(settings: { readonly current: UnansweredCharge }) {
    this.#settings = settings
  }

  /** A provider received a part, and no answer came of it. */
  recordLoss({ loss, provider, usage }: LostRequest): void {
    if (billedByLoss[loss][provider.abort] === 'all') this.recordAnswer(usage())
    // The provider was at work all the same: a limit of tokens is there for that.
    else if (loss === 'ended') this.#freeUsage = sumOf(this.#freeUsage, usage())
  }

  /** A part was answered, but others were not, so that its caller gets none of it. */
  recordAnswer(usage: Usage): void {
    this.#billedUsage = sumOf(this.#billedUsage, usage)
  }

  /** Undefined where nothing was used. */
  get total(): UnansweredTotal | undefined {
    const { unansweredRequests } = this.#settings.current
    if (this.#billedUsage) {
      const isWaived = unansweredRequests === 'waive'
      return { usage: this.#billedUsage, isFree: isWaived, ...(isWaived && { isWaived }) }
    }
    return this.#freeUsage && { usage: this.#freeUsage, isFree: true }
  }
}

const sumOf = (sum: Usage | undefined, usage: Usage): Usage => (sum ? addUsage(sum, usage) : usage)

interface LossContext {
  unansweredUse: UnansweredUse
  candidate: { provider: Pick<Provider, 'abort'> }
}

/**
 * Returns a function that reports that an attempt came to no answer, and its use until then. `usage` gets the number
 * of bytes of an answer that was too long.
 */
export const toLossReport =
  ({ unansweredUse, candidate: { provider } }: LossContext, usage: (bytes: number) => Usage) =>
  (loss: Loss, bytes: number): void =>
    unansweredUse.recordLoss({ loss, provider, usage: () => usage(bytes) })

/** The usage of a provider that read a request without answering it, and wrote an answer of so many bytes. */
export const promptUsage = (body: JsonObject, bytes: number): Usage => ({
  ...estimateUsage({ promptTokens: estimatePrompt(body) }),
  output: estimateOutputTokens(bytes, body),
})
