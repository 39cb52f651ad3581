/**
 * A failed operation of the journal. `unwritten`: this write failed, as on a full disk; the next one may succeed.
 * `failed`: a sync failed, no later one will succeed. `closed`: the journal is closed.
 */
export class JournalError extends Error {
  override readonly name = 'JournalError'
  readonly reason: 'unwritten' | 'failed' | 'closed'

  constructor(reason: JournalError['reason'], cause?: unknown) {
    super(errorMessage[reason], { cause })
    this.reason = reason
  }
}

const errorMessage = {
  unwritten: 'The usage journal is not writable at the moment.',
  failed: 'The usage journal failed: its disk did not confirm a write.',
  closed: 'The usage journal is closed.',
}
