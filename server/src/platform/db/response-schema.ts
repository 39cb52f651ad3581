import type { ColumnType, Generated } from 'kysely'

/** An answer of `/v1/responses` that is stored for the account that requested it. */
export interface StoredResponseRow {
  id: string
  user_id: string
  previous_id: string | null
  /** The items of its own input, as JSON. */
  input: string
  /** The whole answer, as JSON. */
  response: string
  /** The size of both. */
  bytes: number
  /** When a background answer counts as dead unless its node renews this time; null if no node creates it. */
  running_until: ColumnType<Date | null, Date | undefined, Date | null>
  is_background: Generated<boolean>
  /** Whether it was requested as a stream, and can be read as one. */
  keeps_events: Generated<boolean>
  event_bytes: Generated<number>
  ended_at: ColumnType<Date | null, Date | undefined, Date | null>
  /** The items of the answer whose ids a provider made; null where there are none. */
  item_ids: ColumnType<string[] | null, string[] | null | undefined, string[] | null>
  created_at: ColumnType<Date, Date | undefined, never>
}

/** A stored conversation of an account, which may use any model. */
export interface ConversationRow {
  id: string
  user_id: string
  /** As JSON. */
  metadata: string
  /** The position of the next item. */
  next_position: Generated<string>
  items: Generated<number>
  /** The size of all items. */
  bytes: Generated<string>
  /** Their objects, lists and names; 0 of items of earlier versions. */
  nodes: Generated<string>
  created_at: ColumnType<Date, Date | undefined, never>
  used_at: ColumnType<Date, Date | undefined, Date>
}

export interface ConversationItemRow {
  conversation_id: string
  id: string
  user_id: string
  position: string
  response_id: string | null
  /** As received, as JSON. */
  item: string
  bytes: number
  nodes: Generated<number>
}

/** Events of an answer that is created in the background, in their order. */
export interface ResponseEventRow {
  response_id: string
  user_id: string
  /** The sequence number of the last of these events. */
  sequence_number: string
  /** The events as they are sent. */
  frames: string
}

export interface ResponseSchema {
  response_event: ResponseEventRow
  conversation: ConversationRow
  conversation_item: ConversationItemRow
  stored_response: StoredResponseRow
}
