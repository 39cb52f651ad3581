import { toCallersFields } from './callers-response'
import { acceptedIds } from './input'
import { RelayedResponse } from './relayed-response'
import { searchesIn } from './searches'
import { toUsage } from './usage'
import { addItem } from './item-size'
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

const isUnfitting = (item: unknown): boolean =>
  isObject(item) && typeof item['call_id'] === 'string' && !acceptedIds.test(item['call_id'])

const toFitting = (item: unknown): unknown =>
  isObject(item) && typeof item['call_id'] === 'string'
    ? { ...item, call_id: toFittingId(item['call_id'], acceptedIds) }
    : item

/** A request without thoughts, which another key or account encrypted; undefined where there are none. */
export function withoutThoughts(body: JsonObject): JsonObject | undefined {
  const { input } = body
  if (!Array.isArray(input)) return undefined
  const rest = input.filter((item) => !isObject(item) || item['type'] !== 'reasoning')
  return rest.length < input.length ? { ...body, input: rest } : undefined
}

/** Reads a whole Response. Throws for one that failed, and for an answer that is none. */
function complete(answer: unknown, asked: RelayRequest, keepsId: boolean): CompleteAnswer {
  const { source, identity } = asked
  if (!isObject(answer))
    throw invalidAnswer(source.provider, 'a response that is not a JSON object')
  const { error, output, status, usage } = answer
  if (isFailure(answer)) throw toFailure(answer, source)
  if (status === 'failed') throw toFailure({ error: error ?? { message: 'It failed.' } }, source)
  if (!Array.isArray(output)) throw invalidAnswer(source.provider, 'a response without output')
  const size = new TextSize(asked.units)
  for (const item of output) if (isObject(item)) addItem(size, item)
  const counted = toUsage(usage)
  const id = keepsId ? answer['id'] : `resp_${bareAnswerId(identity.id)}`
  const used = counted ? withinVisible(counted, size, asked) : asked.estimate(size)
  return {
    body: { ...answer, id, model: identity.model, ...toCallersFields(answer, asked) },
    usage: withUnits({ ...used, searches: searchesIn(answer) }, asked, { size: () => size }),
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
  stream: (asked) => new RelayedResponse(asked, keepsId),
  complete: (answer, asked) => complete(answer, asked, keepsId),
})
