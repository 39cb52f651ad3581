import { isClaudes } from './thinking'
import { toBlocks, type ConverseBlock, type Writing } from './blocks'
import { isCachePoint, toCachePoints } from './cache-points'
import type { BedrockFamily } from './families'
import { invalidRequest } from '../../errors'
import { toFittingId } from '../history'
import { toFittingCallId } from '../openai/messages'
import { unpackCallId } from '../../wire/packed-call-id'
import type { PastCall, HistoryTurn } from '../conversation'
import { isObject, type JsonObject, toText } from '../../wire/json-body'

export interface ConverseMessage {
  role: 'user' | 'assistant'
  content: ConverseBlock[]
}

/** A history in the form of Converse. */
export interface ConverseHistory extends Writing {
  callIds: BedrockFamily['callIds']
  /** Calls and results as calls and results; else as text, where no tool may be called any more. */
  hasTools: boolean
  /** Signed thoughts go back to the model that had them. */
  hasThoughts: boolean
}

/** `system` and `messages` of a request: turns that alternate and begin with the user's. */
export function toHistory(
  turns: readonly HistoryTurn[],
  history: ConverseHistory,
): { system: ConverseBlock[]; messages: ConverseMessage[] } {
  const system: ConverseBlock[] = []
  const messages: ConverseMessage[] = []
  for (const turn of turns) {
    // Converse has one place for instructions, so later ones move to the front.
    if (turn.role === 'system') system.push(...toBlocks(turn.pieces, history))
    else addTo(messages, toMessage(turn, history))
  }
  if (messages.length === 0 && system.length === 0) {
    throw invalidRequest('messages', 'empty', 'messages: contain no text.')
  }
  if (messages.length === 0) return { system: [], messages: [{ role: 'user', content: system }] }
  // A conversation has to begin with the user, whose message was missing when it arrived here.
  if (messages[0]?.role === 'assistant') {
    messages.unshift({ role: 'user', content: [{ text: '(continued)' }] })
  }
  for (const message of messages) if (message.role === 'user') putInOrder(message)
  trimEnd(messages.at(-1))
  return { system, messages }
}

/** Turns have to alternate: neighbours of one role become one. */
function addTo(messages: ConverseMessage[], message: ConverseMessage): void {
  const last = messages.at(-1)
  if (message.content.length === 0) return
  if (last?.role === message.role) last.content.push(...message.content)
  else messages.push(message)
}

function toMessage(
  turn: Exclude<HistoryTurn, { role: 'system' }>,
  history: ConverseHistory,
): ConverseMessage {
  const blocks = toBlocks(turn.pieces, history)
  if (turn.role === 'tool') return toResult(turn, blocks, history)
  if (turn.role === 'assistant') {
    const thoughts = history.hasThoughts ? toThoughts(turn.details) : []
    const calls = turn.calls.flatMap((call) => [
      toCall(call, history),
      ...toCachePoints(call.cacheControl, history.cachePoints),
    ])
    // Thinking that led to nothing is no turn.
    if (blocks.length === 0 && calls.length === 0) return { role: 'assistant', content: [] }
    return { role: 'assistant', content: [...thoughts, ...blocks, ...calls] }
  }
  return { role: 'user', content: blocks }
}

function toResult(
  { callId, name, cacheControl }: HistoryTurn & { role: 'tool' },
  blocks: ConverseBlock[],
  history: ConverseHistory,
): ConverseMessage {
  // A breakpoint cannot stand inside; the last one covers the content of the others.
  const mark = toCachePoints(cacheControl, history.cachePoints)
  // Some models refuse an empty result.
  const output = blocks.filter((block) => !isCachePoint(block))
  const content = output.length > 0 ? output : [{ text: '(no output)' }]
  if (!history.hasTools) {
    return { role: 'user', content: [{ text: `Result of ${name}:` }, ...content, ...mark] }
  }
  const toolUseId = idFor(callId, history)
  return { role: 'user', content: [{ toolResult: { toolUseId, content } }, ...mark] }
}

function toCall({ id, name, input }: PastCall, history: ConverseHistory): ConverseBlock {
  if (!history.hasTools) return { text: `Called ${name} with ${JSON.stringify(input)}` }
  return { toolUse: { toolUseId: idFor(id, history), name, input } }
}

const acceptedIds = /^[a-zA-Z0-9_-]{1,64}$/

const idFor = (id: string, { callIds }: ConverseHistory) =>
  callIds === 'sixty_four'
    ? toFittingId(id, acceptedIds)
    : toFittingCallId(unpackCallId(id), 'nine_alphanumerics')

function toThoughts(details: readonly JsonObject[]): ConverseBlock[] {
  return details.filter(isClaudes).flatMap<ConverseBlock>(({ text, signature, data }) => {
    if (typeof data === 'string') return [{ reasoningContent: { redactedContent: data } }]
    if (typeof signature !== 'string' || signature === '') return []
    return [{ reasoningContent: { reasoningText: { text: toText(text), signature } } }]
  })
}

/** Results come first, one a call, the last one given; a document never comes without a text. */
function putInOrder(message: ConverseMessage): void {
  const results = new Map<unknown, ConverseBlock[]>()
  const others: ConverseBlock[] = []
  let last = others
  for (const block of message.content) {
    const result = block['toolResult']
    // A breakpoint stays behind the content that it covers.
    if (isCachePoint(block)) last.push(block)
    else if (isObject(result)) results.set(result['toolUseId'], (last = [block]))
    else (last = others).push(block)
  }
  const isUntitled = others.some(({ document }) => document) && !others.some(({ text }) => text)
  if (isUntitled) others.push({ text: '(a document)' })
  message.content = [...[...results.values()].flat(), ...others]
}

/** An answer that the caller began must not end in white space. */
function trimEnd(message: ConverseMessage | undefined): void {
  const last = message?.content.findLast((block) => !isCachePoint(block))
  if (message?.role === 'assistant' && typeof last?.['text'] === 'string') {
    last['text'] = last['text'].trimEnd()
  }
}
