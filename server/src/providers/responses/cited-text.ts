import type { Part } from '../../wire/answer-part'
import { isObject, type JsonObject } from '../../wire/json-body'

/** The text of an answer, and the position in it of the message whose annotations count from their own beginning. */
export class CitedText {
  length = 0
  #begin = 0

  add(text: string): Part[] {
    this.length += text.length
    return [{ type: 'text', text }]
  }

  /** A message begins. */
  begin(): void {
    this.#begin = this.length
  }

  /**
   * Returns an annotation of a message in the form of chat: its fields are in an object named like its
   * type.
   */
  parts(annotation: unknown): Part[] {
    if (!isObject(annotation)) return []
    const { type, ...annotationFields } = annotation
    if (typeof type !== 'string') return []
    const moved: JsonObject = { ...annotationFields }
    for (const name of ['start_index', 'end_index']) {
      const index = annotationFields[name]
      if (typeof index === 'number') moved[name] = index + this.#begin
    }
    return [{ type: 'annotation', annotation: { type, [type]: moved } }]
  }
}
