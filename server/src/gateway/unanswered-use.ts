import type { Provider } from '../providers/provider'
import type { Loss } from '../routing/classify-loss'
import { addUsage, type Usage } from '../wire/usage'

/** What an operator has set: whether callers are charged for what a provider was sent and did not answer. */
export interface UnansweredCharge {
  unansweredRequests: 'charge' | 'waive'
}

type Billed = 'all' | 'nothing'

/** What a provider bills where no answer came of a request that it was sent; it read the prompt at least. */
const billed: Readonly<Record<Loss, Readonly<Record<Provider['abort'], Billed>>>> = {
  // A caller could have it read prompt after prompt.
  ended: { stops: 'all', unknown: 'all', bills_all: 'all', free: 'nothing' },
  // Most bill what they answered.
  failed: { stops: 'nothing', unknown: 'nothing', bills_all: 'all', free: 'nothing' },
}

interface Lost {
  loss: Loss
  provider: Pick<Provider, 'abort'>
  /** What was sent, and what had come of its answer. */
  usage: () => Usage
}

/** What a request used whose caller gets no answer. */
export interface UnansweredTotal {
  usage: Usage
  /** It costs nothing, but counts in limits. */
  isFree: boolean
}

/** What providers bill of a request's parts where the request comes to nothing: the one place that decides it. */
export class UnansweredUse {
  readonly #settings: { readonly current: UnansweredCharge }
  #billed: Usage | undefined
  #free: Usage | undefined

  constructor(settings: { readonly current: UnansweredCharge }) {
    this.#settings = settings
  }

  /** A provider was sent a part, and no answer came of it. */
  lost({ loss, provider, usage }: Lost): void {
    if (billed[loss][provider.abort] === 'all') this.answered(usage())
    // It was at work all the same: a limit of tokens is there for that.
    else if (loss === 'ended') this.#free = sumOf(this.#free, usage())
  }

  /** A part was answered, but others were not, so that its caller gets none of it. */
  answered(usage: Usage): void {
    this.#billed = sumOf(this.#billed, usage)
  }

  /** Undefined where nothing was used. */
  get total(): UnansweredTotal | undefined {
    const { unansweredRequests } = this.#settings.current
    if (this.#billed) return { usage: this.#billed, isFree: unansweredRequests === 'waive' }
    return this.#free && { usage: this.#free, isFree: true }
  }
}

const sumOf = (sum: Usage | undefined, usage: Usage): Usage => (sum ? addUsage(sum, usage) : usage)
