import { expect, test } from 'bun:test'
import { addUsage } from './add-usage'
import { noUsage, promptTokens, readUsage } from './usage'

const read = (details: object, more: object = {}) =>
  readUsage(
    { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: details, ...more },
    'inside',
  )

test('the tokens written for an hour are at most all written ones', () => {
  const usage = read({ cache_write_tokens: 10, cache_creation: { ephemeral_1h_input_tokens: 50 } })
  expect(usage).toMatchObject({ input: 90, cacheWrite: 0, cacheWriteLong: 10 })
  expect(usage && promptTokens(usage)).toBe(100)
})

test('more images than the whole holds contradict it', () => {
  expect(read({ image_tokens: 40 })).toMatchObject({ imageInput: 40, input: 60, flawed: false })
  expect(read({ image_tokens: 101 })).toMatchObject({ imageInput: 100, input: 0, flawed: true })
  const withImageTokens = (image_tokens: number) =>
    read({}, { completion_tokens_details: { image_tokens } })
  expect(withImageTokens(10)).toMatchObject({ imageOutput: 10, output: 0, flawed: false })
  expect(withImageTokens(11)).toMatchObject({ imageOutput: 10, output: 0, flawed: true })
})

test('searches are counted as either block names them, and only as a count', () => {
  expect(read({}, { num_search_queries: 3 })).toMatchObject({ searches: 3, flawed: false })
  expect(read({}, { server_tool_use: { web_search_requests: 2 } })).toMatchObject({ searches: 2 })
  for (const count of [-1, 0.5, 1e12, '3']) {
    expect(read({}, { num_search_queries: count })).toMatchObject({ searches: 0, flawed: true })
  }
})

const servedAs = (servedTier: string | undefined) => ({ ...noUsage, servedTier })

test('several answers were served in a tier where all of them were', () => {
  expect(addUsage(servedAs('flex'), servedAs('flex')).servedTier).toBe('flex')
  for (const other of ['default', undefined]) {
    expect(addUsage(servedAs('flex'), servedAs(other)).servedTier).toBeUndefined()
    expect(addUsage(servedAs(other), servedAs('flex')).servedTier).toBeUndefined()
  }
})
