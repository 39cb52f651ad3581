import { expect } from 'bun:test'
import type { RelayRequest } from '../../src/providers/openai/relayed-stream'
import { relayChat } from '../../src/providers/openai/whole-answer'
import { CollectedChat } from '../../src/wire/collected-chat'
import { isObject, type JsonObject } from '../../src/wire/json-body'

export const identity = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'a/b',
} as const

export const jsonOf = (text: string): JsonObject => {
  const value: unknown = JSON.parse(text)
  return isObject(value) ? value : {}
}
export const choiceOf = (chunk: JsonObject): JsonObject => {
  const [choice]: unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : []
  return isObject(choice) ? choice : {}
}
const deltaOf = (chunk: JsonObject): JsonObject => {
  const { delta } = choiceOf(chunk)
  return isObject(delta) ? delta : {}
}

/** The shape that every client relies on. Source: contract 4.3. */
export function expectGoodChunks(chunks: readonly JsonObject[]): void {
  for (const chunk of chunks) {
    expect(chunk).toMatchObject(identity)
    expect(chunk).not.toHaveProperty('error')
  }
  expect(deltaOf(chunks[0] ?? {})).toEqual({ role: 'assistant', content: '' })
  expect(chunks.filter((chunk) => 'role' in deltaOf(chunk))).toHaveLength(1)
  const finishes = chunks.map((chunk) => choiceOf(chunk)['finish_reason'])
  const at = finishes.findIndex((finish) => typeof finish === 'string')
  // The finish, then the usage, and nothing else.
  expect(at).toBe(chunks.length - 2)
  expect(deltaOf(chunks[at] ?? {})).toEqual({})
  expect(chunks.at(-1)).toMatchObject({ choices: [] })
  expect(chunks.at(-1)).toHaveProperty('usage.total_tokens')
  const opened: unknown[] = []
  for (const { tool_calls: calls } of chunks.map(deltaOf)) {
    if (calls === undefined) continue
    const [call, ...others]: unknown[] = Array.isArray(calls) ? calls : []
    expect(others).toEqual([])
    if (!isObject(call)) throw new Error('a call is no object')
    if (opened.includes(call['index'])) {
      expect(Object.keys(call).toSorted()).toEqual(['function', 'index'])
    } else {
      expect(call['index']).toBe(opened.length)
      expect(call).toMatchObject({ type: 'function', function: { arguments: '' } })
      expect(call['id']).toBeString()
      expect(call).toHaveProperty('function.name')
      opened.push(call['index'])
    }
  }
}

/** Returns the answer that a caller receives without streaming. */
export function completeOf(chunks: readonly JsonObject[], request: RelayRequest): JsonObject {
  const collected = new CollectedChat()
  for (const chunk of chunks) collected.add(chunk)
  return choiceOf(relayChat(collected.complete(), request).body)
}
