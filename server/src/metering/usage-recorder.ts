import type { SpendingLimits } from './spending-limits'
import type { UsageWriter } from '../booking/usage-writer'
import type { UsageEvent } from '../ledger/usage-event'
import type { LoggedRequest } from '../request-logs/logged-request'
import type { UsageCounts } from '../telemetry/model-counts'

interface Options {
  writer: Pick<UsageWriter, 'begin' | 'settle'>
  spendingLimits: Pick<SpendingLimits, 'note' | 'drop'>
  counts: Pick<UsageCounts, 'countAttempt'>
}

/** Counts the usage of ended attempts in the spending limits and metrics of this node, and passes it on to booking. */
export class UsageRecorder {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** Records an attempt before the provider is called, as `UsageWriter` does. */
  begin(event: UsageEvent): Promise<void> {
    return this.#options.writer.begin(event)
  }

  /** Records the end of an attempt. Resolves with its charge, and rejects, as `UsageWriter` does. */
  settle(event: UsageEvent, log?: LoggedRequest): Promise<bigint> {
    const { writer, spendingLimits, counts } = this.#options
    const isNoted = spendingLimits.note(event)
    counts.countAttempt(event)
    const settling = writer.settle(event, log)
    return isNoted ? this.#dropUnwritten(event, settling) : settling
  }

  #dropUnwritten(event: UsageEvent, settling: Promise<bigint>): Promise<bigint> {
    settling.catch(() => this.#options.spendingLimits.drop(event))
    return settling
  }
}
