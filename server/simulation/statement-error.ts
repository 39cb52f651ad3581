/** The statement had no effect, and its client knows. */
export class StatementError extends Error {
  override readonly name = 'StatementError'
  /** `refused`: rejected by its content; `timeout`: waited too long for a lock. */
  readonly reason: 'refused' | 'timeout' | 'connection'

  constructor(reason: 'refused' | 'timeout' | 'connection', message: string = reason) {
    super(message)
    this.reason = reason
  }
}
