import type { FinishReason } from './finish-reason'
import type { JsonObject } from './json-body'
import type { Usage } from './usage'

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
   * Tollgate.
   */
  | { type: 'call'; index: number; id?: string; name: string; extra?: JsonObject }
  /** More of a call's arguments, as JSON text. A call that gets none has `{}`. */
  | { type: 'arguments'; index: number; text: string }
  /** A citation of the text so far, in the form of `annotations` of a chat message: see `annotations.ts`. */
  | { type: 'annotation'; annotation: JsonObject }
  /** Fields that travel on the delta as they are, such as `reasoning_details`. */
  | { type: 'extra'; fields: JsonObject }
  /**
   * The total usage so far, not an increment: the last one counts. It comes after the content that it
   * counts.
   */
  | { type: 'usage'; usage: Usage }
  /** Comes once, behind all content; only a usage may follow. */
  | { type: 'finish'; reason: FinishReason }
  /**
   * For dialects that mark their end: nothing follows, so the reader does not wait for the connection to
   * close.
   */
  | { type: 'end' }
