import type { ColumnType, Generated } from 'kysely'

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

/** What an account says in turns with any model. */
export interface ConversationRow {
  id: string
  user_id: string
  /** As JSON. */
  metadata: string
  /** Of the next item. */
  next_position: Generated<string>
  items: Generated<number>
  /** Of all items. */
  bytes: Generated<string>
  created_at: ColumnType<Date, Date | undefined, never>
  used_at: ColumnType<Date, Date | undefined, Date>
}

export interface ConversationItemRow {
  conversation_id: string
  id: string
  user_id: string
  position: string
  response_id: string | null
  /** As it came, as JSON. */
  item: string
  bytes: number
}

export interface ResponseSchema {
  conversation: ConversationRow
  conversation_item: ConversationItemRow
  stored_response: StoredResponseRow
}
