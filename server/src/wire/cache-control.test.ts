import { describe, expect, test } from 'bun:test'
import {
  readCacheControl,
  readToolCacheControl,
  fitBreakpoints,
  type CacheControl,
} from './cache-control'
import type { JsonObject } from './json-body'

const short: CacheControl = { type: 'ephemeral' }
const hour: CacheControl = { type: 'ephemeral', ttl: '1h' }

describe('the breakpoint that something carries', () => {
  const holders: [string, JsonObject, CacheControl | undefined][] = [
    ['a plain one', { cache_control: { type: 'ephemeral' } }, short],
    ['five minutes', { cache_control: { type: 'ephemeral', ttl: '5m' } }, { ...short, ttl: '5m' }],
    ['an hour', { cache_control: { type: 'ephemeral', ttl: '1h' } }, hour],
    ['a lifetime that is unknown', { cache_control: { type: 'ephemeral', ttl: '7d' } }, short],
    ['fields that are unknown', { cache_control: { type: 'ephemeral', scope: 'global' } }, short],
    ["OpenAI's", { prompt_cache_breakpoint: { mode: 'explicit' } }, short],
    ['null', { cache_control: null, prompt_cache_breakpoint: null }, undefined],
    ['none', {}, undefined],
  ]
  test.each(holders)('%s', (_name, holder, control) => {
    expect(readCacheControl(holder)).toEqual(control)
  })

  test('on a tool may stand inside of its function', () => {
    expect(readToolCacheControl({ function: { name: 'f', cache_control: hour } })).toEqual(hour)
    expect(readToolCacheControl({ function: { name: 'f' }, cache_control: short })).toEqual(short)
    expect(readToolCacheControl({ function: { name: 'f' } })).toBeUndefined()
  })
})

describe('the breakpoints of a request', () => {
  test('are the last ones where there are too many', () => {
    expect(fitBreakpoints([hour, hour, short], 2)).toEqual([undefined, hour, short])
    expect(fitBreakpoints([short, short], 4)).toEqual([short, short])
  })

  test('of an hour come before five-minute ones, or become such', () => {
    expect(fitBreakpoints([hour, short, hour], 4)).toEqual([hour, short, short])
    // One that is dropped shortens none behind it.
    expect(fitBreakpoints([short, hour, hour], 2)).toEqual([undefined, hour, hour])
  })
})
