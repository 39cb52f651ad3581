import { describe, expect, test } from 'bun:test'
import { bodyOf, target } from '../../../testing/providers/google-chat'
import { isObject } from '../../wire/json-body'

const thinkingOf = (model: string, effort: string | undefined, reasoning = true) => {
  const targetFields = { capabilities: { ...target(model).capabilities, reasoning } }
  const body = bodyOf({ reasoning_effort: effort }, model, targetFields)
  const config = body['generationConfig']
  return isObject(config) ? config['thinkingConfig'] : undefined
}
const withThoughts = { includeThoughts: true }

describe('reasoning effort', () => {
  test.each([
    ['gemini-3-pro-preview', 'none', { thinkingLevel: 'low' }],
    ['gemini-3-pro-preview', 'minimal', { ...withThoughts, thinkingLevel: 'low' }],
    ['gemini-3-pro-preview', 'medium', { ...withThoughts, thinkingLevel: 'high' }],
    ['gemini-3.1-pro-preview', 'medium', { ...withThoughts, thinkingLevel: 'medium' }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'minimal' }],
    ['gemini-3.8-flash', 'minimal', { ...withThoughts, thinkingLevel: 'low' }],
    ['gemini-flash-latest', 'high', { ...withThoughts, thinkingLevel: 'high' }],
    ['gemini-4-argon', 'max', { ...withThoughts, thinkingLevel: 'high' }],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-flash', 'medium', { ...withThoughts, thinkingBudget: 8192 }],
    ['gemini-2.5-flash-lite', 'minimal', { ...withThoughts, thinkingBudget: 1024 }],
    ['gemini-2.5-flash-lite', undefined, undefined],
    ['gemini-2.5-flash', undefined, withThoughts],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['gemini-2.5-pro', 'max', { ...withThoughts, thinkingBudget: 32_768 }],
    ['gemini-2.5-pro', undefined, withThoughts],
    ['gemini-2.0-flash', 'high', undefined],
    ['gemma-3-27b-it', 'high', undefined],
  ])('%s, %p: %j', (model, effort, config) => {
    expect(thinkingOf(model, effort)).toEqual(config)
  })

  test('a model without reasoning receives no effort', () => {
    expect(thinkingOf('gemini-2.5-flash-image', 'high', false)).toBeUndefined()
  })
})
