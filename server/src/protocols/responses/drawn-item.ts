import type { JsonObject } from '../../wire/json-body'

/** An image that a model drew, in a history. */
export interface DrawnItem extends JsonObject {
  /** Its data in base64. */
  result: string
}

/** Whether an item is one that has its image in itself, and not only its id. */
export const isDrawn = (item: JsonObject): item is DrawnItem =>
  item['type'] === 'image_generation_call' &&
  typeof item['result'] === 'string' &&
  item['result'] !== ''
