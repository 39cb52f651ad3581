import { expect, test } from 'bun:test'
import { headersOf, toSentHeaders } from './request-head'
import type { Provider } from '../providers/provider'
import { providers } from '../providers/registry'

const connection = { baseUrl: 'https://a.example', secret: 'sk-1', options: {} }

/** Anthropic as it is built in, or as an operator defines it with headers of its own. */
function anthropicWith(headers?: Record<string, string>): Provider {
  const builtIn = providers.find(({ key }) => key === 'anthropic')
  if (!builtIn) throw new Error('It is built in.')
  return headers ? { ...builtIn, options: { ...builtIn.options, headers } } : builtIn
}

/** The headers that are sent for a caller's request in Anthropic's format. */
function sent(provider: Provider, forwarded: Record<string, string>) {
  const headers = { 'anthropic-version': '2023-06-01' }
  const fields = { operation: 'chat', headers, forwarded } as const
  return toSentHeaders({ provider, connection }, fields, { url: 'https://a.example/v1', hops: 0 })
}

test('finding S29: a header that the operator set for a provider stays, in any case of letters', () => {
  const forwarded = { 'anthropic-beta': 'b-2025-01-01', 'anthropic-version': '2026-10-21' }
  const beta = sent(anthropicWith({ 'Anthropic-Beta': 'mine' }), forwarded)
  expect(beta).toMatchObject({ 'Anthropic-Beta': 'mine', 'anthropic-version': '2026-10-21' })
  expect(beta).not.toHaveProperty('anthropic-beta')
  const version = sent(anthropicWith({ 'Anthropic-Version': '2023-01-01' }), forwarded)
  expect(version).toMatchObject({ 'Anthropic-Version': '2023-01-01' })
  expect(version).not.toHaveProperty('anthropic-version')
})

test('the registry’s version is a default', () => {
  const newer = { 'anthropic-version': '2026-10-21' }
  expect(sent(anthropicWith(), newer)).toMatchObject(newer)
  expect(sent(anthropicWith(), {})).toMatchObject({ 'anthropic-version': '2023-06-01' })
})

const route = (provider: Provider, headers: Record<string, string> | null) => ({
  provider,
  connection: { ...connection, headers },
})
const url = 'https://a.example/v1'

test('the headers of a connection take the place of all others but its credential', () => {
  const own = { 'user-agent': 'mine', 'x-registered': 'mine', 'x-team': 'a', 'x-api-key': 'mine' }
  const sentOnes = headersOf(route(anthropicWith({ 'X-Registered': 'theirs' }), own), url)
  expect(sentOnes).toEqual({
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'mine',
    'x-registered': 'mine',
    'x-team': 'a',
    'x-api-key': 'sk-1',
  })
})

test('no header of an adapter or a caller replaces that of a connection', () => {
  const head = toSentHeaders(
    route(anthropicWith(), { 'anthropic-beta': 'mine', 'anthropic-version': '2026-01-01' }),
    {
      operation: 'chat',
      headers: { 'anthropic-version': '2023-06-01' },
      forwarded: { 'Anthropic-Beta': 'theirs', 'anthropic-version': '2026-10-21' },
    },
    { url, hops: 0 },
  )
  expect(head).toMatchObject({ 'anthropic-beta': 'mine', 'anthropic-version': '2026-01-01' })
  expect(head).not.toHaveProperty('Anthropic-Beta')
})
