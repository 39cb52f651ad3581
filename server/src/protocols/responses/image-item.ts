import {
  within,
  type ItemStatus,
  type OutputItem,
  type OutputPosition,
  type StreamEvent,
} from './event'
import type { JsonObject } from '../../wire/json-body'
import type { DrawnImage } from '../../wire/drawn-images'

/** An image that the model drew, as the call by which OpenAI's models draw theirs. */
export class ImageItem implements OutputItem {
  readonly #position: OutputPosition
  readonly #image: DrawnImage

  constructor(position: OutputPosition, image: DrawnImage) {
    this.#position = position
    this.#image = image
  }

  toItem(status: ItemStatus): JsonObject {
    const { mimeType, data } = this.#image
    const isBegun = status === 'in_progress'
    return {
      id: this.#position.id,
      type: 'image_generation_call',
      status,
      result: isBegun ? null : data,
      output_format: mimeType.slice(mimeType.indexOf('/') + 1),
    }
  }

  end(): StreamEvent[] {
    return [{ type: 'response.image_generation_call.completed', ...within(this.#position) }]
  }
}
