import type { JsonObject } from '../../wire/json-body'

/**
 * One event of a stream, before it is numbered.
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
export interface StreamEvent extends JsonObject {
  type: `response.${string}`
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** The position of an item in the output. */
export interface OutputPosition {
  id: string
  index: number
}

/** One item of the output, from its first event to its last. */
export interface OutputItem {
  /** The item as far as it has come. */
  toItem(status: ItemStatus): JsonObject
  /** The remaining events of the item, without the one that marks it as done. */
  end(): StreamEvent[]
}

/** The fields that every event about the inside of an item carries. */
export const within = ({ id, index }: OutputPosition) => ({ item_id: id, output_index: index })
