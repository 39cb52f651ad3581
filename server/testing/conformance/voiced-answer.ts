import type { JsonObject } from '../../src/wire/json-body'

/** The answer that a provider gives, whatever its dialect. Counts are fixed: see `counts`. */
export interface VoicedAnswer {
  thought?: string
  text?: string
  /** Arguments of calls, as JSON texts; empty for a call without. */
  calls?: readonly string[]
  /** The address of a page that the text cites. */
  cites?: string
  /** Events and fields come beside it that no version of the format had so far. */
  isStrange?: boolean
  /** Fields that may be absent are null. */
  hasNulls?: boolean
  /** The provider reports a failure in place of an end. */
  isFailing?: boolean
  /** The count of its output: undefined for the true one, null where it gives no counts at all. */
  claimed?: number | null
  /** Undefined for an answer that breaks off; `unknown` for a word that no version of the format had so far. */
  finish: 'stop' | 'length' | 'filter' | 'unknown' | undefined
}

/** The counts that every voice reports; one that a dialect does not report is left out. */
export const counts = { input: 10, cached: 4, output: 5, thought: 3 }

/** A dialect's events for an answer. */
export type Voice = (answer: VoicedAnswer) => JsonObject[]

/** The names of the calls. */
export const names = ['first', 'second']

/** Returns the reported count of an answer's output, without its thoughts; undefined where there is none. */
export const outputOf = ({ claimed }: VoicedAnswer): number | undefined =>
  claimed === null ? undefined : (claimed ?? counts.output)

/** Returns fields in front of others, as nulls. */
export const nullsOf = ({ hasNulls }: VoicedAnswer, ...fields: string[]): JsonObject =>
  hasNulls ? Object.fromEntries(fields.map((name) => [name, null])) : {}

/** Returns whether a provider says of an answer that it ended in calls. */
export const isCalling = ({ calls, finish }: VoicedAnswer) =>
  calls !== undefined && finish === 'stop'
/** Returns the id of a call by its place. */
export const idOf = (at: number) => `call_${at}`

/** Returns the pieces of an answer, in their order. */
export const blocks = ({ thought, text, calls = [] }: VoicedAnswer) => [
  ...(thought === undefined ? [] : [{ kind: 'thought' as const, value: thought }]),
  ...(text === undefined ? [] : [{ kind: 'text' as const, value: text }]),
  ...calls.map((value, call) => ({ kind: 'call' as const, value, call })),
]
/** A piece of an answer. */
export type Block = ReturnType<typeof blocks>[number]
