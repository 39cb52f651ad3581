import type { Identity } from './answer'
import type { CompletionRequest } from './completion-request'
import { isObject, type JsonObject } from './json-body'

/** What a legacy completion says that a chat request does not know. */
const notInChat = new Set(['prompt', 'echo', 'suffix', 'best_of', 'logprobs'])

/** The prompts of a legacy completion, as texts; undefined where one is an array of token ids. */
export function promptTexts(prompt: CompletionRequest['prompt']): string[] | undefined {
  if (typeof prompt === 'string') return [prompt]
  const texts: string[] = []
  for (const item of prompt) {
    if (typeof item !== 'string') return undefined
    texts.push(item)
  }
  return texts
}

/** One prompt as the chat request that stands in for it: it becomes a user's message. */
export function toChatBody(completion: JsonObject, prompt: string): JsonObject {
  const chat: JsonObject = {}
  for (const [name, value] of Object.entries(completion)) {
    if (!notInChat.has(name)) chat[name] = value
  }
  return { ...chat, messages: [{ role: 'user', content: prompt }] }
}

const toText = (content: unknown) => (typeof content === 'string' ? content : '')
const isWord = (word: unknown) => word === 'length' || word === 'content_filter'

/** A choice of a chat completion as one of a legacy completion. */
export function toTextChoice(choice: JsonObject, index: number, before: string): JsonObject {
  const message = isObject(choice['message']) ? choice['message'] : {}
  const finish = choice['finish_reason']
  return {
    text: before + toText(message['content']),
    index,
    logprobs: null,
    finish_reason: isWord(finish) ? finish : 'stop',
  }
}

/**
 * A chunk of a chat stream as one of a legacy stream; undefined for one that holds no text and no
 * end. `echo` is put before the first text of its choice.
 */
export function toTextChunk(
  chunk: string,
  identity: Identity,
  place: { offset: number; echo: Map<number, string> },
): string | undefined {
  const read: unknown = JSON.parse(chunk)
  const choices = isObject(read) && Array.isArray(read['choices']) ? read['choices'] : []
  const [choice] = choices.filter(isObject)
  if (!choice) return undefined
  const index = place.offset + Number(choice['index'] ?? 0)
  const finish = choice['finish_reason']
  const delta = isObject(choice['delta']) ? choice['delta'] : {}
  const text = (place.echo.get(index) ?? '') + toText(delta['content'])
  if (text === '' && typeof finish !== 'string') return undefined
  place.echo.delete(index)
  const word = isWord(finish) ? finish : 'stop'
  const finish_reason = typeof finish === 'string' ? word : null
  return JSON.stringify({ ...identity, choices: [{ text, index, logprobs: null, finish_reason }] })
}
