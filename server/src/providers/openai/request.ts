import { relayBreakpoints } from './cache-control'
import { toUpstreamMessages } from './messages'
import { boundIdentifiers } from './identifiers'
import { toPlainTools, withProperties } from './tool-schemas'
import { omittedOf } from '../omitted-fields'
import { withFunctionTools } from '../../wire/custom-tools'
import { isObject, type JsonObject } from '../../wire/json-body'
import { toTools, usesFunctions } from '../../wire/legacy-functions'
import { readReasoning } from '../../wire/reasoning-field'
import type { RelayOptions } from '../provider'

/** The provider's model and quirks for a request to one candidate. */
export interface RelayTarget {
  /** The provider's name of the model. */
  upstreamModel: string
  /** The model is known to think. */
  isReasoning?: boolean
  options: RelayOptions
}

const limitFields = ['max_completion_tokens', 'max_tokens'] as const

/** The output limit of a chat request, in tokens; zero counts as absent. Source: contract 4.1. */
export function readOutputLimit(body: JsonObject): { limit: number; field: string } | undefined {
  for (const field of limitFields) {
    const limit = body[field]
    if (Number.isInteger(limit) && Number(limit) > 0) return { limit: Number(limit), field }
  }
  return undefined
}

/** Returns the request with a lower output limit; unchanged for undefined. */
export function withOutputLimit(body: JsonObject, limit: number | undefined): JsonObject {
  if (limit === undefined) return body
  const { max_completion_tokens: _limit, ...rest } = body
  return { ...rest, max_tokens: limit }
}

const isEmptyArray = (value: unknown) => Array.isArray(value) && value.length === 0

/** Writes a chat request for a provider of this format: fields that are not named here travel on. */
export function toUpstreamChat(chat: JsonObject, target: RelayTarget): JsonObject {
  const { options } = target
  const body = withoutAbsent(withKnownTools(chat, target))
  delete body['functions']
  delete body['function_call']
  const limit = readOutputLimit(chat)
  delete body['max_completion_tokens']
  delete body['max_tokens']
  if (limit) body['max_tokens'] = limit.limit
  if (!body['tools']) {
    delete body['tool_choice']
    delete body['parallel_tool_calls']
  }
  if (body['reasoning'] !== undefined) writeReasoning(body, target)
  const hasAudio = Array.isArray(body['modalities']) && body['modalities'].includes('audio')
  if (!hasAudio) delete body['audio']
  body['messages'] = toUpstreamMessages(body['messages'], options)
  relayBreakpoints(body, options)
  if (reasons(target)) toReasoning(body, options)
  if (body['tools']) body['tools'] = withProperties(body['tools'])
  if (options.toolSchemas === 'plain' && body['tools']) body['tools'] = toPlainTools(body['tools'])
  return finish(body, target)
}

/** Writes the request for thoughts in the provider's words: as it is where they are OpenRouter's, else as an effort. */
function writeReasoning(body: JsonObject, target: RelayTarget): void {
  const { reasoning, reasoning_effort: effort } = body
  if (target.options.reasoningObject && isObject(reasoning)) {
    // Only one of them is taken there.
    delete body['reasoning_effort']
    if (effort !== undefined) body['reasoning'] = { ...reasoning, effort }
    return
  }
  const requested = readReasoning(body, derivesEffort(target)).effort
  delete body['reasoning']
  if (requested !== undefined) body['reasoning_effort'] = requested
}

/** Models that do not think refuse the field, and not all know a word for no thinking. */
const derivesEffort =
  ({ isReasoning }: RelayTarget) =>
  (effort: string): boolean =>
    isReasoning === true && effort !== 'none'

function withKnownTools(chat: JsonObject, target: RelayTarget): JsonObject {
  if (usesFunctions(chat)) return toTools(chat)
  return takesCustomTools(target) ? chat : withFunctionTools(chat)
}

/** Whether a model takes custom tools; for others functions stand for them. */
export const takesCustomTools = ({ upstreamModel, options }: RelayTarget): boolean =>
  startsWithOneOf(upstreamModel, options.customToolModels)

const reasons = ({ upstreamModel, options }: RelayTarget): boolean =>
  startsWithOneOf(upstreamModel, options.reasoningModels)

export function startsWithOneOf(name: string, prefixes: readonly string[]): boolean {
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true
  return false
}

/** Fields of a chat request that `toUpstreamChat` leaves out because the provider, or the model, refuses them. */
export function findFieldsOmittedByRelay(chat: JsonObject, target: RelayTarget): readonly string[] {
  const { drop, reasoningModelsDrop, reasoningObject } = target.options
  const dropped = reasons(target) ? [...drop, ...reasoningModelsDrop] : drop
  const omitted = dropped.length > 0 ? omittedOf(chat, dropped) : dropped
  if (reasoningObject || !isObject(chat['reasoning'])) return omitted
  return [...omitted, ...readReasoning(chat, derivesEffort(target)).omitted]
}

/** Reasoning models refuse fields that tune the sampling, and name the limit differently. */
function toReasoning(body: JsonObject, { reasoningModelsDrop }: RelayOptions): void {
  if (body['max_tokens'] !== undefined) body['max_completion_tokens'] = body['max_tokens']
  for (const name of ['max_tokens', ...reasoningModelsDrop]) delete body[name]
}

/** A legacy completion for a provider that serves them. */
export function toUpstreamCompletion(completion: JsonObject, target: RelayTarget): JsonObject {
  const body = withoutAbsent(completion)
  // Only the limit that is paid for goes on: a second field could allow more.
  const limit = readOutputLimit(completion)
  delete body['max_completion_tokens']
  if (limit) body['max_tokens'] = limit.limit
  // Zero is absent, but with `echo` it requests no output at all.
  else if (body['echo'] !== true) delete body['max_tokens']
  if (body['best_of'] === 0) delete body['best_of']
  return finish(body, target)
}

function withoutAbsent(chat: JsonObject): JsonObject {
  const body: JsonObject = {}
  for (const name in chat) {
    const value = chat[name]
    if (value !== null && value !== undefined && !isEmptyArray(value)) body[name] = value
  }
  return body
}

function finish(body: JsonObject, { upstreamModel, options }: RelayTarget): JsonObject {
  body['model'] = upstreamModel
  delete body['stream_options']
  boundIdentifiers(body)
  // Usage is always requested; the caller sees it only on request.
  if (body['stream'] === true && options.streamUsage) {
    body['stream_options'] = { include_usage: true }
  }
  return applyOptions(body, options)
}

function applyOptions(body: JsonObject, options: RelayOptions): JsonObject {
  for (const name of options.drop) delete body[name]
  for (const name in options.values) {
    const value = body[name]
    if (typeof value === 'string') body[name] = options.values[name]?.[value] ?? value
  }
  for (const name in options.clamp) {
    const value = body[name]
    const range = options.clamp[name]
    if (range && typeof value === 'number') body[name] = clamped(value, range)
  }
  for (const name in options.rename) {
    const theirs = options.rename[name]
    if (theirs === undefined || !(name in body)) continue
    body[theirs] ??= body[name]
    delete body[name]
  }
  return body
}

const clamped = (value: number, [low, high]: readonly [number, number]) =>
  Math.min(high, Math.max(low, value))
