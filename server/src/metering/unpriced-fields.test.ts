import { describe, expect, test } from 'bun:test'
import type { Pricing } from '../catalog/model'
import { ApiError } from '../errors'
import { stripUnpriced, costlyFields } from './unpriced-fields'

const pricing: Pricing = { input: 1n, output: 1n }
const chat = { endpoint: 'chat', pricing } as const
const body = { model: 'm', messages: [], temperature: 1, service_tier: 'auto', unheard_of: 7 }
const named = (how: string) =>
  Object.keys(costlyFields).filter((name) => costlyFields[name] === how)

describe('M35: fields that raise the price of a request', () => {
  test('does not copy a request without unpriced fields', () => {
    expect(stripUnpriced(body, chat)).toBe(body)
  })

  test.each(named('priced'))('%s travels on, being in the hold', (name) => {
    const asking = { ...body, [name]: name === 'tools' ? [] : 3 }
    expect(stripUnpriced(asking, { ...chat, endpoint: 'completion' })).toBe(asking)
  })

  test.each(named('refused'))('rejects %s by name', (name) => {
    for (const value of [true, {}, 'on', ['x']]) {
      const refused = () => stripUnpriced({ ...body, [name]: value }, chat)
      expect(refused).toThrow(ApiError)
      expect(refused).toThrow(name)
    }
    for (const value of [null, undefined, false, []]) {
      const asking = { ...body, [name]: value }
      expect(stripUnpriced(asking, chat)).toBe(asking)
    }
  })

  test.each(named('stripped'))('%s is left out', (name) => {
    expect(stripUnpriced({ ...body, [name]: 'priority' }, chat)).not.toHaveProperty(name)
  })

  test.each(['auto', 'default', 'flex', 'on_demand'])('service_tier %s is kept', (tier) => {
    expect(stripUnpriced({ ...body, service_tier: tier }, chat)).toHaveProperty(
      'service_tier',
      tier,
    )
  })

  test('searches are kept where the model has a price for each request', () => {
    const searching = { ...body, web_search_options: {} }
    const bySearch = { ...chat, pricing: { ...pricing, request: 12_000_000n } }
    expect(stripUnpriced(searching, bySearch)).toBe(searching)
  })

  test('only legacy completions choose the best of several', () => {
    expect(stripUnpriced({ ...body, best_of: 20 }, chat)).not.toHaveProperty('best_of')
  })

  test('breakpoints of a prompt cache are sent on: cache writes have a price', () => {
    const control = { type: 'ephemeral', ttl: '1h' }
    const tools = [{ type: 'function', function: { name: 'f' }, cache_control: control }]
    const asking = { ...body, tools, cache_control: control }
    expect(stripUnpriced(asking, chat)).toBe(asking)
  })
})

const bodyWith = (cache_control: object) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control }] }],
})

test('a request that is charged has no hour in a cache that its price does not cover', () => {
  const hour = bodyWith({ type: 'ephemeral', ttl: '1h' })
  const pricing = { input: 1n, output: 1n, cacheWrite: 1n }
  const charged = stripUnpriced(hour, { endpoint: 'chat', pricing })
  expect(charged).toEqual(bodyWith({ type: 'ephemeral' }))
  const covered = { ...pricing, cacheWriteLong: 2n }
  expect(stripUnpriced(hour, { endpoint: 'chat', pricing: covered })).toBe(hour)
})
