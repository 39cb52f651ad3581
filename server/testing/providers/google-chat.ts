import { expect } from 'bun:test'
import { google } from '../../src/providers/google/index'
import type { ChatRequest } from '../../src/wire/chat-request'
import type { JsonObject } from '../../src/wire/json-body'
import { toPlainChat } from '../../src/wire/plain-chat'
import type { AdapterTarget } from '../../src/providers/adapter'

/** Returns a target with all features; tests give the differences. */
export const target = (upstreamModel: string, own: Partial<AdapterTarget> = {}): AdapterTarget => ({
  upstreamModel,
  maxTokens: undefined,
  capabilities: { reasoning: true, tools: true, vision: true, jsonSchema: true },
  ...own,
})

export const chatOf = (fields: JsonObject): ChatRequest =>
  toPlainChat({
    model: 'google/gemini',
    messages: [{ role: 'user', content: 'Hi' }],
    ...fields,
  })

/** The body that a request becomes. */
export const bodyOf = (
  fields: JsonObject,
  model = 'gemini-3-pro-preview',
  own: Partial<AdapterTarget> = {},
): JsonObject => google.request(chatOf(fields), target(model, own)).body

/** The turns that messages become. */
export const turnsOf = (
  messages: unknown[],
  model?: string,
  own?: Partial<AdapterTarget>,
): unknown => bodyOf({ messages }, model, own)['contents']

interface Called {
  name?: string
  args?: string
  extra?: JsonObject
}

export const call = (id: string, { name = 'f', args = '{}', extra }: Called = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
  ...extra,
})

export const user = (content: unknown): JsonObject => ({ role: 'user', content })

export const assistant = (content: unknown, ...calls: JsonObject[]): JsonObject => ({
  role: 'assistant',
  content,
  ...(calls.length > 0 && { tool_calls: calls }),
})

export const tool = (id: string, content: unknown): JsonObject => ({
  role: 'tool',
  tool_call_id: id,
  content,
})

/** An error of a field, as `toThrow` compares it. */
export const refusal = (param: string, issue: string): unknown =>
  expect.objectContaining({ code: 'invalid_request', param, details: { issue } })
