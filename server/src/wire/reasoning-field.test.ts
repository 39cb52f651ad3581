import { describe, expect, test } from 'bun:test'
import { readReasoning } from './reasoning-field'

const never = () => false

describe('finding Q4: the effort of a request, and its limits', () => {
  test.each([
    [{}, undefined, []],
    [{ reasoning_effort: 'low' }, 'low', []],
    [{ reasoning: {} }, undefined, []],
    [{ reasoning: { effort: 'high' } }, 'high', []],
    [{ reasoning: { effort: 'high' }, reasoning_effort: 'low' }, 'low', []],
    [{ reasoning: { effort: 'high', exclude: true } }, 'high', ['reasoning.exclude']],
    [{ reasoning: { effort: 'low', max_tokens: 2000 } }, 'low', ['reasoning.max_tokens']],
    [{ reasoning: { effort: 'low', enabled: true } }, 'low', []],
    [{ reasoning: { effort: 'low', enabled: false } }, 'low', ['reasoning.enabled']],
    [{ reasoning: { effort: null, enabled: true } }, 'medium', []],
    [{ reasoning: { enabled: false } }, 'none', []],
    [{ reasoning: { max_tokens: 2000 } }, 'low', []],
    [{ reasoning: { max_tokens: 4096, exclude: false } }, 'medium', []],
    [{ reasoning: { max_tokens: 32_000, enabled: true } }, 'high', []],
    [{ reasoning: { summary: 'auto', other: null } }, undefined, ['reasoning.summary']],
  ])('%j: %p, without %j', (chat, effort, omitted) => {
    expect(readReasoning(chat)).toEqual({ effort, omitted })
  })

  test('a budget without a counterpart is named', () => {
    expect(readReasoning({ reasoning: { max_tokens: 2000 } }, never)).toEqual({
      effort: undefined,
      omitted: ['reasoning.max_tokens'],
    })
    expect(readReasoning({ reasoning: { enabled: true } }, never)).toEqual({
      effort: undefined,
      omitted: ['reasoning.enabled'],
    })
  })
})
