import { expect, test } from 'bun:test'
import { ChatChunks, type OutputPart } from './chat-chunks'
import { toChunkParts, toCompletionParts } from './chunk-parts'
import { CollectedChat } from './collected-chat'
import { isObject } from './json-body'
import { noUsage, toUsageBlock } from './usage'

const identity = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk' as const,
  created: 1,
  model: 'fake/ok',
}

const detail = { type: 'reasoning.text', text: 'Hm.', signature: 'sig', index: 0 }

const contentParts: OutputPart[] = [
  { type: 'reasoning', text: 'Hm.' },
  { type: 'extra', fields: { reasoning_details: [detail] } },
  { type: 'text', text: 'Let me look.' },
  { type: 'call', index: 0, id: 'call_1', name: 'look' },
  { type: 'arguments', index: 0, text: '{"at":1}' },
  { type: 'call', index: 1, id: 'call_2', name: 'listen' },
  { type: 'arguments', index: 1, text: '{}' },
  { type: 'finish', reason: 'tool_calls' },
]

const chunksOf = (parts: readonly OutputPart[]) => {
  const chunks = new ChatChunks({ identity, legacyFunctions: false, newCallId: () => 'call_x' })
  return parts.flatMap((part) => chunks.add(part)).map((text): unknown => JSON.parse(text))
}

test('chunks say the parts that they were made of', () => {
  const parts = chunksOf(contentParts).flatMap((chunk) =>
    isObject(chunk) ? toChunkParts(chunk) : [],
  )
  expect(parts).toEqual(contentParts)
})

test('a whole answer has the same text, each in one piece', () => {
  const collected = new CollectedChat()
  for (const chunk of chunksOf(contentParts)) if (isObject(chunk)) collected.add(chunk)
  expect(toCompletionParts(collected.complete())).toEqual(contentParts)
})

test('the usage comes as it was counted', () => {
  const usage = {
    ...noUsage,
    input: 5,
    cachedInput: 3,
    cacheWrite: 2,
    output: 4,
    reasoning: 1,
  }
  const chunk = { ...identity, choices: [], usage: toUsageBlock(usage) }
  expect(toChunkParts(chunk)).toEqual([{ type: 'usage', usage }])
})

test('a missing field is not a part', () => {
  expect(toChunkParts({})).toEqual([])
  const delta = { role: 'assistant', content: '', refusal: null }
  expect(toChunkParts({ choices: [{ delta, finish_reason: null }] })).toEqual([])
})
