import type { Scene } from './scene'
import { spoken, type Dialect, type Spoken } from './spoken'
import { whole } from './whole'
import type { ApiError } from '../../../src/errors'
import type { JsonObject } from '../../../src/wire/json-body'
import type { Usage } from '../../../src/wire/usage'

/** The answer that the caller must receive. */
export interface Expected {
  /** All of the text, and of the thoughts that are shown; none where absent. */
  text?: string
  thought?: string
  /** The names and arguments of all calls. */
  calls?: readonly (readonly [name: string, json: string])[]
  /** `tool_calls` beside calls, else `stop`, where absent. */
  finish?: string
  /** A part of the choice, as JSON. */
  has?: RegExp
  /** Text that neither the choice nor a chunk has. */
  lacks?: RegExp
  usage?: Partial<Usage>
  /** The error in place of an answer. `isEarly`: nothing but the opening came before, so Tollgate fails over. */
  fails?: Partial<ApiError> & { isEarly?: true }
}

/** How a dialect says an oddity. */
export interface Said {
  /** Events of a stream; absent where only a whole answer can have it. */
  stream?: Spoken
  /** A whole answer; absent where only a stream can have it. */
  whole?: JsonObject
  /** The content type, where that is another one than it should be. */
  label?: string
  /** Text before each event, in a stream of server-sent events. */
  between?: string
  /** The answer in a dialect that keeps more or less of it than the others. */
  expected?: Expected
}

/** A dialect whose format has no room for an oddity. */
export const cannotOccur = 'cannot occur'

/** Something that providers really send: one row of the table, with an entry for each dialect. */
export interface Oddity {
  name: string
  /** The findings that it comes from. */
  findings: string
  said: Record<Dialect, Said | typeof cannotOccur>
  expected: Expected
}

function saidBy(dialect: Dialect, scene: Scene): Said {
  const answer = whole[dialect](scene)
  return { stream: spoken[dialect](scene), ...(answer && { whole: answer }) }
}

/** Has each dialect say a scene, streamed and whole. */
export const inEach = (scene: Scene): Record<Dialect, Said> => ({
  openai: saidBy('openai', scene),
  responses: saidBy('responses', scene),
  anthropic: saidBy('anthropic', scene),
  google: saidBy('google', scene),
  bedrock: saidBy('bedrock', scene),
  cohere: saidBy('cohere', scene),
})

/** Has each dialect say a scene in a stream. */
export function streamedInEach(scene: Scene): Record<Dialect, Said> {
  const said = inEach(scene)
  for (const each of Object.values(said)) delete each.whole
  return said
}

/** No dialect says it, but those that a row names. */
export const inNone = {
  openai: cannotOccur,
  responses: cannotOccur,
  anthropic: cannotOccur,
  google: cannotOccur,
  bedrock: cannotOccur,
  cohere: cannotOccur,
} as const
