import { toCallersFields } from './callers-response'
import { acceptedIds } from './input'
import { RelayedResponse } from './relayed-response'
import { searchesIn } from './searches'
import { toUsage, withMissing } from './usage'
import { addItem } from './item-size'
import { collectResponse, toResponseEvents } from './whole-response'
import type { NativePassthrough, PassthroughTarget } from '../adapter'
import { isFailure } from '../event'
import { toFittingId } from '../history'
import { withinVisible, withUnits, type RelayRequest } from '../openai/relayed-stream'
import type { CompleteAnswer } from '../openai/whole-answer'
import { toFailure, invalidAnswer } from '../upstream-error'
import { bareAnswerId } from '../../wire/answer'
import { isObject, type JsonObject } from '../../wire/json-body'
import { TextSize } from '../../wire/text-size'

/** The least output limit that is taken. */
const minTokens = 16

/** A request that came in this format: as it is, but for model, limit, and ids that would be refused. */
function request(body: JsonObject, { upstreamModel, maxTokens }: PassthroughTarget) {
  const { input } = body
  return {
    path: '/responses',
    body: {
      ...body,
      model: upstreamModel,
      ...(Array.isArray(input) && input.some(isUnfitting) && { input: input.map(toFitting) }),
      ...(maxTokens !== undefined && { max_output_tokens: Math.max(minTokens, maxTokens) }),
    },
  }
}

/** The maximum length of an item's id there. */
const maxIdLength = 64

const isUnfitting = (item: unknown): boolean =>
  isObject(item) && (hasForeignCallId(item) || hasLongId(item) || repeatsThoughts(item))

const hasForeignCallId = ({ call_id: id }: JsonObject): boolean =>
  typeof id === 'string' && !acceptedIds.test(id)

/** An item that is sent whole needs none; a reference is nothing without it. */
const hasLongId = ({ type, id }: JsonObject): boolean =>
  type !== 'item_reference' && typeof id === 'string' && id.length > maxIdLength

/** Thoughts beside the encrypted ones, which OpenAI refuses. */
const repeatsThoughts = ({ type, content, encrypted_content: data }: JsonObject): boolean =>
  type === 'reasoning' && Boolean(data) && Array.isArray(content) && content.length > 0

function toFitting(item: unknown): unknown {
  if (!isObject(item) || !isUnfitting(item)) return item
  const { call_id: callId } = item
  const fitting = { ...item }
  if (typeof callId === 'string') fitting['call_id'] = toFittingId(callId, acceptedIds)
  if (hasLongId(item)) delete fitting['id']
  if (repeatsThoughts(item)) delete fitting['content']
  return fitting
}

/** A request without thoughts, which another key or account encrypted; undefined where there are none. */
export function withoutThoughts(body: JsonObject): JsonObject | undefined {
  const { input } = body
  if (!Array.isArray(input)) return undefined
  const rest = input.filter((item) => !isObject(item) || item['type'] !== 'reasoning')
  return rest.length < input.length ? { ...body, input: rest } : undefined
}

/** Reads a whole Response. Throws for one that failed, and for an answer that is none. */
function complete(answer: unknown, relayRequest: RelayRequest, keepsId: boolean): CompleteAnswer {
  const { source, identity } = relayRequest
  if (!isObject(answer))
    throw invalidAnswer(source.provider, 'a response that is not a JSON object')
  const { error, output, status, usage } = answer
  if (isFailure(answer)) throw toFailure(answer, source)
  if (status === 'failed' || status === 'cancelled')
    throw toFailure({ error: error ?? { message: 'It failed.' } }, source)
  if (!Array.isArray(output)) throw invalidAnswer(source.provider, 'a response without output')
  const size = new TextSize(relayRequest.units)
  for (const item of output) if (isObject(item)) addItem(size, item)
  const counted = toUsage(usage)
  const id = keepsId ? answer['id'] : `resp_${bareAnswerId(identity.id)}`
  const used = counted
    ? withMissing(withinVisible(counted, size, relayRequest), usage, () =>
        relayRequest.estimate(size),
      )
    : relayRequest.estimate(size)
  return {
    body: { ...answer, id, model: identity.model, ...toCallersFields(answer, relayRequest) },
    usage: withUnits({ ...used, searches: searchesIn(answer) }, relayRequest, { size: () => size }),
  }
}

/**
 * The passthrough for callers who use this format. `keepsId`: the answer keeps the id under which its
 * provider may have stored it, as the credential is the caller's own. Source: contract 5.2.
 */
export const responsesPassthrough = ({ keepsId }: { keepsId: boolean }): NativePassthrough => ({
  format: 'responses',
  request,
  unsigned: withoutThoughts,
  stream: (relayRequest) => new RelayedResponse(relayRequest, keepsId),
  complete: (answer, relayRequest) => complete(answer, relayRequest, keepsId),
  events: toResponseEvents,
  collect: collectResponse,
})
