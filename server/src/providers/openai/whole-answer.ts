import { isEmptyCall, readText, readThought } from './choice-deltas'
import { readChoices, withinVisible, withUnits, type RelayRequest } from './relayed-stream'
import { readWholeCalls } from './whole-calls'
import { isFailure } from '../event'
import { toFailure, invalidAnswer } from '../upstream-error'
import { processingMsIn, type AnswerUnits } from '../../wire/answer-units'
import { readSourceAnnotations } from '../../wire/annotations'
import { toFinishReason, type FinishReason } from '../../wire/finish-reason'
import { stripForeignFields, toPlainUsageBlock } from '../../wire/hidden-cache'
import { isObject, type JsonObject, toObjects } from '../../wire/json-body'
import { TextSize } from '../../wire/text-size'
import { completionTokens, readUsage, toRelayedUsageBlock, type Usage } from '../../wire/usage'
import { findMissing, readRequestFee, withEstimated } from '../../wire/usage-claims'

/** A whole answer as the caller receives it, and its usage. */
export interface CompleteAnswer {
  body: JsonObject
  usage: Usage
}

/** Fields of an answer that are not passed on, or that Tollgate sets. */
const answerFields = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'error',
  'x_groq',
  'base_resp',
  '__proto__',
])

type ToChoice = (choice: JsonObject, index: number, request: RelayRequest) => JsonObject

/** Relays a whole chat completion. Throws for an error inside a 200, and for an answer that is none. */
export function relayChat(answer: unknown, request: RelayRequest): CompleteAnswer {
  const whole = relay(answer, request, toChatChoice)
  // Clients of OpenRouter reject an answer without these.
  whole.body['system_fingerprint'] ??= null
  whole.body['provider'] ??= request.source.provider
  return whole
}

/** Relays a whole legacy completion. */
export const relayText = (answer: unknown, request: RelayRequest): CompleteAnswer =>
  relay(answer, request, toTextChoice)

const noCalls: readonly JsonObject[] = []

function toChatChoice(choice: JsonObject, index: number, request: RelayRequest): JsonObject {
  const message = isObject(choice['message']) ? choice['message'] : undefined
  if (!message) throw invalidAnswer(request.source.provider, 'a choice without a message')
  const { tool_calls: theirCalls, function_call: older } = message
  const isCalling = Array.isArray(theirCalls) && theirCalls.some(isObject)
  const finishReason = finishOf(
    choice,
    isCalling || (isObject(older) && older['name'] !== ''),
    request,
  )
  // Most answers have no calls, and then nothing is made for them.
  const calls = isCalling ? readWholeCalls(theirCalls, finishReason, request) : undefined
  const ownMessage = toMessage(message, calls?.calls ?? noCalls, request)
  const finish = calls?.reason ?? finishReason
  const reason = finish === 'tool_calls' && request.legacyFunctions ? 'function_call' : finish
  return {
    ...choice,
    index,
    message: ownMessage,
    logprobs: choice['logprobs'] ?? null,
    finish_reason: reason,
  }
}

function toTextChoice(choice: JsonObject, index: number, request: RelayRequest): JsonObject {
  const text = typeof choice['text'] === 'string' ? choice['text'] : undefined
  if (text === undefined) throw invalidAnswer(request.source.provider, 'a choice without text')
  const finish = finishOf(choice, false, request)
  return { ...choice, text, index, logprobs: choice['logprobs'] ?? null, finish_reason: finish }
}

function relay(answer: unknown, request: RelayRequest, toChoice: ToChoice): CompleteAnswer {
  const { source, identity, options } = request
  if (!isObject(answer))
    throw invalidAnswer(source.provider, 'a response that is not a JSON object')
  if (isFailure(answer)) throw toFailure(answer, source)
  const theirs = readChoices(answer, source)
  if (theirs.length === 0) throw invalidAnswer(source.provider, 'a response without choices')
  const choices: JsonObject[] = []
  for (const choice of theirs) {
    const index = Number.isInteger(choice['index']) ? Number(choice['index']) : choices.length
    choices.push(toChoice(choice, index, request))
  }
  addSources(choices, answer)
  const block = answer['usage']
  const reported = readUsage(block, options.reasoningTokens)
  const counted = reported
    ? withMissing(boundUsage(reported, choices, request), { answer, choices, request })
    : request.estimate(sizeOf(choices))
  const usage = request.units ? measured(counted, { answer, choices, request }) : counted
  const { service_tier: servedTier } = answer
  if (typeof servedTier === 'string') usage.servedTier = servedTier
  if (options.statesRequestFee) usage.requestFee = readRequestFee(block)
  const body: JsonObject = { ...identity }
  for (const name in answer) if (!answerFields.has(name)) body[name] = answer[name]
  body['choices'] = choices
  body['usage'] = toRelayedUsageBlock(usage, block)
  if (request.hidesCachedTokens) {
    stripForeignFields(body)
    body['usage'] = toPlainUsageBlock(usage)
  }
  return { body, usage }
}

interface RelayedAnswer {
  answer: JsonObject
  choices: readonly JsonObject[]
  request: RelayRequest
}

const measured = (usage: Usage, { answer, choices, request }: RelayedAnswer): Usage =>
  withUnits(usage, request, {
    size: () => sizeOf(choices, request.units),
    processingMs: processingMsIn(answer),
  })

/** Sources beside the choices are the citations of their texts. */
function addSources(choices: readonly JsonObject[], answer: JsonObject): void {
  const annotations = readSourceAnnotations(answer)
  if (annotations.length === 0) return
  for (const { message } of choices) {
    if (isObject(message) && !Array.isArray(message['annotations'])) {
      message['annotations'] = annotations
    }
  }
}

function finishOf(
  choice: JsonObject,
  hasToolCalls: boolean,
  { source }: RelayRequest,
): FinishReason {
  const providerReason =
    typeof choice['finish_reason'] === 'string' ? choice['finish_reason'] : 'stop'
  const finish = toFinishReason(providerReason, hasToolCalls)
  if (!finish || choice['native_finish_reason'] === 'error') throw toFailure(choice, source)
  return finish
}

function toMessage(
  theirs: JsonObject,
  calls: readonly JsonObject[],
  request: RelayRequest,
): JsonObject {
  const message: JsonObject = { ...theirs }
  delete message['reasoning']
  delete message['tool_calls']
  if (isEmptyCall(theirs['function_call'])) delete message['function_call']
  const content = theirs['content']
  const text = content === null ? '' : readText(content)
  message['role'] = 'assistant'
  // Beside calls an empty text adds nothing.
  message['content'] = content === null || (calls.length > 0 && text === '') ? null : text
  message['refusal'] = theirs['refusal'] ?? null
  const thinking = theirs['reasoning_content'] ?? theirs['reasoning'] ?? readThought(content)
  if (typeof thinking === 'string' && thinking !== '') message['reasoning_content'] = thinking
  if (calls.length === 0) return message
  if (request.legacyFunctions) message['function_call'] = calls[0]?.['function']
  else message['tool_calls'] = calls
  return message
}

/**
 * Most answers need no closer look: their count is at most the characters of their texts, which never
 * exceed the bytes.
 */
function boundUsage(reported: Usage, choices: readonly JsonObject[], request: RelayRequest): Usage {
  let length = 0
  for (const { message, text } of choices) {
    const outputTexts = isObject(message) ? message['content'] : text
    if (typeof outputTexts === 'string') length += outputTexts.length
  }
  return completionTokens(reported) <= length
    ? reported
    : withinVisible(reported, sizeOf(choices), request)
}

/** Adds an estimate of the side that the provider did not count. */
function withMissing(counted: Usage, { answer, choices, request }: RelayedAnswer): Usage {
  const missingSides = findMissing(counted, answer['usage'])
  return missingSides
    ? withEstimated(counted, missingSides, request.estimate(sizeOf(choices)))
    : counted
}

const messageFields = new Set([
  'role',
  'content',
  'refusal',
  'reasoning_content',
  'tool_calls',
  'function_call',
])

/** Measures the content, in the pieces by which a stream is measured. */
function sizeOf(choices: readonly JsonObject[], units?: AnswerUnits): TextSize {
  const size = new TextSize(units)
  for (const choice of choices) {
    size.addAround()
    const message = isObject(choice['message']) ? choice['message'] : {}
    const { content, refusal, reasoning_content: reasoning, function_call: call } = message
    const calls = toObjects(message['tool_calls'])
    const calledFunctions = [
      call,
      ...calls.map((entry) => entry['function'] ?? entry['custom']),
    ].filter(isObject)
    for (const { name } of calledFunctions) if (typeof name === 'string') size.addCall(name)
    const argumentTexts = calledFunctions.map((one) => one['arguments'] ?? one['input'])
    const texts = [choice['text'], content, refusal, reasoning, ...argumentTexts]
    for (const text of texts.filter((item) => typeof item === 'string')) size.add(text)
    for (const name in message) if (!messageFields.has(name)) size.addOther(message[name])
  }
  return size
}
