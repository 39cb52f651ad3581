import type { JsonObject } from '../../wire/json-body'

/** One event of a stream, before it is numbered. @see https://platform.openai.com/docs/api-reference/responses-streaming */
export interface StreamEvent extends JsonObject {
  type: `response.${string}`
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Where an item stands in the output. */
export interface OutputPosition {
  id: string
  index: number
}

/** One item of the output, from the first that is told of it to the last. */
export interface OutputItem {
  /** The item as far as it has come. */
  toItem(status: ItemStatus): JsonObject
  /** What tells the rest of it, but that it is done. */
  end(): StreamEvent[]
}

/** What every event about the inside of an item names. */
export const within = ({ id, index }: OutputPosition) => ({ item_id: id, output_index: index })
