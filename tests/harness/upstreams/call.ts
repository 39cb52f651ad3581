import type { Billing } from './model-name'
import type { Reply } from './reply'

export type Json = Record<string, unknown>

/** What a caller asked, as far as this provider reads it. */
export interface ReceivedRequest {
  method: string
  path: string
  headers: Record<string, string>
  query: URLSearchParams
  /** The parsed body, `{}` when it was no JSON object. */
  body: Json
}

/** What one request has cost the provider so far. Tokens as in `tokens.ts`. */
export interface Attempt {
  /** `x-tollgate-attempt` of the request, else a number of our own. */
  id: string
  model: string
  billing: Billing
  /** Output limit of the request, null when it set none. */
  cap: number | null
  promptTokens: number
  /** Tokens of the whole answer; 0 while the behaviour has produced none. */
  completionTokens: number
  tokensSent: number
  /** An answer was produced; refusals are free. */
  answered: boolean
  /** The answer was written to its end. */
  complete: boolean
}

/** One request on its way through a behaviour. */
export interface Call {
  received: ReceivedRequest
  /** What follows the behaviour's name in the model: `20` of `rate-20`, else empty. */
  argument: string
  attempt: Attempt
  reply: Reply
  /** Milliseconds since the first call of this model name, for behaviours that change with time. */
  age: () => number
  /** Holds the answer; resolves when the test releases it. Throws `PeerGone`. */
  hold: () => Promise<void>
}

/** Answers one request, well or badly. May throw `PeerGone`. */
export type Behaviour = (call: Call) => Promise<void>

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The argument as a whole number, `fallback` when there is none. */
export function numberOf({ argument }: Call, fallback: number): number {
  const number = Number(argument)
  return argument === '' || Number.isNaN(number) ? fallback : number
}

/** The output limit a request sets, null for none. Zero counts as none. */
export function capOf(body: Json): number | null {
  const cap = body['max_completion_tokens'] ?? body['max_tokens']
  return typeof cap === 'number' && cap > 0 ? cap : null
}
