import { isObject, type JsonObject } from './json-body'

/** Units of an answer that are counted and measured beside tokens, where its price charges them. */
export interface AnswerUnits {
  characters: boolean
  seconds: boolean
}

/** No provider works longer on one request; a longer value is no time. */
const maxMs = 86_400_000

/** Milliseconds, rounded up, of an amount of which `perMs` are one; undefined for a value that is no time. */
function msOf(value: unknown, perMs: number): number | undefined {
  if (typeof value !== 'number' || !(value >= 0)) return undefined
  // Seconds such as 1.1 have no exact product: 1100.0000000000002 is 1100.
  const ms = Math.ceil(Number((value / perMs).toFixed(6)))
  return ms <= maxMs ? ms : undefined
}

const perSecond = 0.001

/**
 * The processing time that a provider reports of an answer, or of a chunk of it, in milliseconds. Groq has it in
 * its usage (`total_time`, without the time in the queue), SambaNova too (`total_latency`), Cerebras beside it
 * (`time_info`), and llama.cpp reports prompt and output apart (`timings`).
 */
export function processingMsIn(answer: JsonObject): number | undefined {
  const { usage, x_groq: groq, time_info: info, timings } = answer
  const block = isObject(usage) ? usage : isObject(groq) ? groq['usage'] : undefined
  const inUsage = isObject(block)
    ? (msOf(block['total_time'], perSecond) ?? msOf(block['total_latency'], perSecond))
    : undefined
  if (inUsage !== undefined) return inUsage
  if (isObject(info)) return msOf(info['total_time'], perSecond)
  if (!isObject(timings)) return undefined
  const [prompt, predicted] = [msOf(timings['prompt_ms'], 1), msOf(timings['predicted_ms'], 1)]
  return prompt === undefined || predicted === undefined ? undefined : prompt + predicted
}
