/** An error of ClickHouse, as its HTTP interface reports it. */
export class ClickHouseException extends Error {
  readonly code: number
  readonly label: string

  constructor(code: number, label: string, message: string) {
    super(message)
    this.code = code
    this.label = label
  }

  /** The text of the answer. */
  get text(): string {
    return `Code: ${this.code}. DB::Exception: ${this.message} (${this.label}) (version 26.9.2.1 (stand-in))\n`
  }

  /** The status of the answer, as ClickHouse chooses it by the code. */
  get status(): number {
    if ([60, 81, 46, 16, 47].includes(this.code)) return 404
    if ([516, 194, 492].includes(this.code)) return 403
    if ([6, 26, 27, 38, 41, 53, 62, 69, 72, 117, 349, 456, 457].includes(this.code)) return 400
    return 500
  }
}

export const syntaxError = (text: string) =>
  new ClickHouseException(62, 'SYNTAX_ERROR', `Syntax error: failed at position 1: ${text}`)
