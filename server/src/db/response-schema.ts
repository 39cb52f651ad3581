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
  /** Until when its node is believed to make it in the background; null where no node does. */
  running_until: ColumnType<Date | null, Date | undefined, Date | null>
  is_background: Generated<boolean>
  /** It was asked for as a stream, and can be read as one. */
  keeps_events: Generated<boolean>
  event_bytes: Generated<number>
  ended_at: ColumnType<Date | null, Date | undefined, Date | null>
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

/** Events of an answer that is made in the background, in their order. */
export interface ResponseEventRow {
  response_id: string
  user_id: string
  /** Of the last of them. */
  sequence_number: string
  /** As they are sent. */
  frames: string
}

export interface ResponseSchema {
  response_event: ResponseEventRow
  conversation: ConversationRow
  conversation_item: ConversationItemRow
  stored_response: StoredResponseRow
}
