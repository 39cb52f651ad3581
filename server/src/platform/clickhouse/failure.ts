/** ClickHouse does not answer, or too late; the statement may have been executed. */
export class ClickHouseUnavailable extends Error {
  override readonly name = 'ClickHouseUnavailable'
}

/**
 * ClickHouse rejected a statement, or failed while it executed it. The message has its code and not its text, which
 * may quote the rows; `query_id` finds the text in `system.query_log`.
 */
export class ClickHouseRejection extends Error {
  override readonly name = 'ClickHouseRejection'
  /** Undefined where the answer was not ClickHouse's. */
  readonly code: number | undefined

  constructor(what: string, { code, queryId }: { code?: number | undefined; queryId: string }) {
    super(`${what} (query_id ${queryId})`)
    this.code = code
  }
}

/** Codes of rows that cannot be stored, however often they are sent. */
const rowCodes = new Set([
  6, // CANNOT_PARSE_TEXT
  26, // CANNOT_PARSE_QUOTED_STRING
  27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  38, // CANNOT_PARSE_DATE
  41, // CANNOT_PARSE_DATETIME
  53, // TYPE_MISMATCH
  69, // ARGUMENT_OUT_OF_BOUND
  72, // CANNOT_PARSE_NUMBER
  117, // INCORRECT_DATA
  131, // TOO_LARGE_STRING_SIZE
  349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  469, // VIOLATED_CONSTRAINT
])
const unknownTable = 60

/** Whether a row of an insertion was rejected, rather than the insertion as such. */
export const isRowRejected = (thrown: unknown): boolean =>
  thrown instanceof ClickHouseRejection && rowCodes.has(thrown.code ?? 0)

export const isTableMissing = (thrown: unknown): boolean =>
  thrown instanceof ClickHouseRejection && thrown.code === unknownTable
