import { describe, expect, test } from 'bun:test'
import {
  needsResponses,
  ResponsesFlags,
  getResponsesFlags,
  withKnownEffort,
} from './needs-responses'
import { responsesModels } from './models'
import { sampleChat, sampleTool } from '../../../testing/providers/samples'

const flags = (fields: object) => ResponsesFlags.parse(fields)
const tools = { tools: [sampleTool('look')] }

describe('a request needs Responses', () => {
  test.each([
    ['never', undefined, true],
    ['never', 'none', true],
    ['with_effort_none', undefined, true],
    ['with_effort_none', 'low', true],
    ['with_effort_none', 'none', false],
    ['without_effort', undefined, false],
    ['without_effort', 'none', false],
    ['without_effort', 'low', true],
  ])('tools in chat %s, effort %p: %p', (toolsInChat, effort, expected) => {
    const chatFields = { ...tools, ...(effort !== undefined && { reasoning_effort: effort }) }
    expect(needsResponses(flags({ toolsInChat }), sampleChat(chatFields))).toBe(expected)
    expect(
      needsResponses(flags({ toolsInChat }), sampleChat({ ...chatFields, tools: [] })),
    ).toBeFalse()
    expect(needsResponses(undefined, sampleChat(chatFields))).toBeFalse()
  })

  test('by the longest beginning of the model’s name', () => {
    const never = flags({ toolsInChat: 'never' })
    const free = flags({ toolsInChat: 'without_effort' })
    const models = { 'gpt-6': free, 'gpt-6-astra': never }
    expect(getResponsesFlags(models, 'gpt-6-astra-2026-05-01')).toBe(never)
    expect(getResponsesFlags(models, 'gpt-6-sol')).toBe(free)
    expect(getResponsesFlags(models, 'gpt-5')).toBeUndefined()
  })
})

test.each([
  ['gpt-6-astra', 'none', true],
  ['gpt-6.1-sol-2026-09-01', undefined, true],
  ['gpt-6-sol', 'none', false],
  ['gpt-6-luna', 'high', true],
  ['gpt-5.6', 'high', true],
  ['gpt-5.6', undefined, false],
  ['gpt-5', 'high', false],
])('%s with tools and effort %p: %p', (model, effort, expected) => {
  const chat = sampleChat({ ...tools, ...(effort !== undefined && { reasoning_effort: effort }) })
  expect(needsResponses(getResponsesFlags(responsesModels, model), chat)).toBe(expected)
})

test.each([
  ['none', 'low'],
  ['minimal', 'low'],
  ['low', 'low'],
  ['max', 'max'],
])('an effort of %s is %s where less is not known', (effort, expected) => {
  const flagsOfModel = flags({ toolsInChat: 'never', leastEffort: 'low' })
  const chat = withKnownEffort(sampleChat({ reasoning_effort: effort }), flagsOfModel)
  expect(String(chat.reasoning_effort)).toBe(expected)
  expect(withKnownEffort(sampleChat(), flagsOfModel).reasoning_effort).toBeUndefined()
})

test.each([
  ['gpt-5.5-pro', 'medium'],
  ['gpt-5.4-pro-2026-03-05', 'medium'],
  ['gpt-5-pro', 'high'],
  ['gpt-5-pro-2025-10-06', 'high'],
  ['gpt-6.2-pro', 'medium'],
  ['o3-pro-2025-06-10', 'low'],
  ['o1-pro', 'low'],
  ['gpt-5.3-codex', 'none'],
  ['gpt-5.3-codex-spark', 'none'],
  ['gpt-5.1-codex-max', 'low'],
  ['gpt-6-cyber', 'low'],
])('finding D10: %s takes no chat, and no effort below %s', (model, leastEffort) => {
  const flagsOfModel = getResponsesFlags(responsesModels, model)
  expect(flagsOfModel).toMatchObject({ responsesOnly: true, leastEffort })
  expect(needsResponses(flagsOfModel, sampleChat())).toBeTrue()
})

test.each(['gpt-5.5', 'gpt-4o', 'o3', 'gpt-5-professional', 'gpt-5-proto', 'gpt-audio'])(
  '%s takes chats',
  (model) => {
    expect(needsResponses(getResponsesFlags(responsesModels, model), sampleChat())).toBeFalse()
    // The second look is from memory.
    expect(getResponsesFlags(responsesModels, model)).toBe(
      getResponsesFlags(responsesModels, model),
    )
  },
)
