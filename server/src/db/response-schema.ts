import type { ColumnType } from 'kysely'

/** An answer of `/v1/responses` that is kept for the account that asked. */
export interface StoredResponseRow {
  id: string
  user_id: string
  previous_id: string | null
  /** The items of its own input, as JSON. */
  input: string
  /** The whole answer, as JSON. */
  response: string
  /** Of both. */
  bytes: number
  created_at: ColumnType<Date, Date | undefined, never>
}

export interface ResponseSchema {
  stored_response: StoredResponseRow
}
