import { expect, test } from 'bun:test'
import { responses as dialectOf } from '.'

test('headers that describe the body are sent with it', () => {
  const headers = new Headers({
    'openai-beta': 'a=v1',
    'x-openai-internal-codex-responses-lite': 'true',
    'openai-organization': 'org-1',
  })
  const { original } = dialectOf(headers).read({ model: 'openai/gpt-6-astra', input: 'Hi.' })
  expect(original?.headers).toEqual({
    'openai-beta': 'a=v1',
    'x-openai-internal-codex-responses-lite': 'true',
  })
})
