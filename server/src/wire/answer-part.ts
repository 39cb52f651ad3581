import type { FinishReason } from './finish-reason'
import type { JsonObject } from './json-body'
import type { Usage } from './usage'
import type { MissingSides } from './usage-claims'

/**
 * One piece of a translated answer, in the order in which the client receives them. Adapters make parts of
 * their provider's events; `wire` makes chunks of parts. An answer has one choice.
 */
export type Part =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'refusal'; text: string }
  /**
   * A tool call begins. `index` counts the calls of the answer from 0; without an id it gets one from
   * Tollgate. A second part of one call adds the name that the first lacked, which is empty.
   */
  | { type: 'call'; index: number; id?: string; name: string; extra?: JsonObject }
  /** More of a call's arguments, as JSON text. A call that gets none has `{}`, unless the answer was cut. */
  | { type: 'arguments'; index: number; text: string }
  /** A citation of the text so far, in the form of `annotations` of a chat message: see `annotations.ts`. */
  | { type: 'annotation'; annotation: JsonObject }
  /** Fields that travel on the delta as they are, such as `reasoning_details`. */
  | { type: 'extra'; fields: JsonObject }
  /**
   * The total usage so far, not an increment. It comes after the content that it counts. Of several the last
   * one counts where it `corrects` the earlier ones, else the larger: see `maxUsage`. `missing`: the
   * sides that were not counted.
   */
  | { type: 'usage'; usage: Usage; corrects?: true; missing?: MissingSides | undefined }
  /** The reason of the `finish`, of a dialect that states it before its end: that may not come. */
  | { type: 'stop'; reason: FinishReason }
  /**
   * Comes once, behind all content; only a usage may follow. `isCut`: the answer broke off inside a call that is not
   * among its parts. `matchedStop`: the stop sequence that ended it, as far as the provider says so; see
   * `stop-sequence.ts`.
   */
  | { type: 'finish'; reason: FinishReason; isCut?: boolean; matchedStop?: string | undefined }
  /**
   * For dialects that mark their end: nothing follows, so the reader does not wait for the connection to
   * close.
   */
  | { type: 'end' }
