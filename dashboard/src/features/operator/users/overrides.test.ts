import { expect, test } from 'bun:test'
import { quotaTypes } from '../../../url/period'
import { toChoices, toOverrides } from './overrides'

test('the plan’s limit applies where one is absent, null removes it, and a number replaces it', () => {
  const choices = toChoices({ requests_per_minute: 60, tokens_per_minute: null })
  expect(choices.requests_per_minute).toEqual({ mode: 'own', value: 60 })
  expect(choices.tokens_per_minute).toEqual({ mode: 'none', value: '' })
  expect(choices.monthly_spend).toEqual({ mode: 'plan', value: '' })
})

test('every limit of an account has a choice', () => {
  expect(Object.keys(toChoices({}))).toEqual([...quotaTypes])
})

test.each([
  ['no override', {}],
  ['a limit of zero', { concurrent_requests: 0 }],
  ['no limit', { monthly_requests: null }],
  ['several', { requests_per_minute: 5, tokens_per_minute: null, monthly_spend: 12.5 }],
])('%s is unchanged by a form that is saved as it was loaded', (_name, limits) => {
  expect(toOverrides(toChoices(limits))).toEqual(limits)
})

test('a number that was typed as text is sent as a number', () => {
  const choices = { ...toChoices({}), monthly_spend: { mode: 'own' as const, value: '12.5' } }
  expect(toOverrides(choices)).toEqual({ monthly_spend: 12.5 })
})

test('a limit that returns to the plan is not sent, although its field still has a number', () => {
  const choices = { ...toChoices({}), monthly_spend: { mode: 'plan' as const, value: 7 } }
  expect(toOverrides(choices)).toEqual({})
})
